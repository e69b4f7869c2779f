"""openstack_nova.py: a real Nova with a simulated hypervisor, over HTTP; prints its URL.

Nova's own functional tests bring it up in one process: API, conductor, scheduler, placement, and a compute service whose
driver only pretends.  Nobody asks for a token here; that is Keystone's (openstack_keystone.py).  The flavor "5" demands a
trait that no host has, so that there is always one for which no host is found.
"""
import os
import sys

# The fixtures would swallow what is printed.
os.environ["OS_STDOUT_CAPTURE"] = os.environ["OS_STDERR_CAPTURE"] = "0"
# pylint: disable=wrong-import-position,import-error
site = os.path.join(sys.prefix, "lib", f"python{sys.version_info[0]}.{sys.version_info[1]}", "site-packages", "etc")
os.makedirs(site, exist_ok=True)
if not os.path.lexists(os.path.join(site, "nova")):  # where Nova's tests look for api-paste.ini
    os.symlink(os.path.join(sys.prefix, "etc", "nova"), os.path.join(site, "nova"))

import wsgi_intercept
from nova.tests.functional import integrated_helpers

import eventlet
import eventlet.wsgi

PROJECT = "6f70656e737461636b20342065766572"  # that of Nova's tests


class Cloud(integrated_helpers._IntegratedTestBase):  # pylint: disable=protected-access
    microversion = "2.96"
    CAST_AS_CALL = False  # a create is answered before it is through, as it is elsewhere

    def runTest(self):
        pass


def find_api():
    """The application that the fixtures put behind an address which exists in this process alone."""
    for made in wsgi_intercept._wsgi_intercept.values():  # pylint: disable=protected-access
        app = (made[0] if isinstance(made, (tuple, list)) else made)()
        if "URLMap" in str(type(app)):
            return app
    raise RuntimeError("there is no API")


def as_member(app):
    def call(env, start):
        token = env.setdefault("HTTP_X_AUTH_TOKEN", "x")
        roles = "admin,member,reader" if token == "admin" else "member,reader"
        env.update(HTTP_X_AUTH_USER="fake", HTTP_X_AUTH_PROJECT_ID=PROJECT, HTTP_X_ROLES=roles)
        return list(app(env, start))
    return call


def main():
    cloud = Cloud()
    cloud.setUp()
    cloud.admin_api.post_extra_spec("5", {"extra_specs": {"trait:HW_CPU_X86_AMD_SEV": "required"}})
    listener = eventlet.listen(("127.0.0.1", 0))
    print(f"http://127.0.0.1:{listener.getsockname()[1]}", flush=True)
    eventlet.wsgi.server(listener, as_member(find_api()), log_output=False)


if __name__ == "__main__":
    main()
