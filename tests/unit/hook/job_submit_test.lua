-- job_submit_test.lua SCRIPT DIRECTORY: slurm/job_submit.lua as slurmctld has it, with tables, jobs and partitions of the
-- test's.  Prints one line for each thing that is wrong; exit status 1 if there is one.

local script, dir = arg[1], arg[2]
local wrong = 0
local user, log = {}, {}

slurm = {
	SUCCESS = 0, ERROR = -1, ESLURM_INVALID_NODE_COUNT = 2006, ESLURM_INVALID_TIME_LIMIT = 2051, ESLURM_ACCOUNTING_POLICY = 2050,
	log_user = function(form, ...) user[#user + 1] = string.format(form, ...) end,
	log_info = function(form, ...) log[#log + 1] = string.format(form, ...) end,
}
BURST_SUBMIT_FILE = dir .. "/submit"
BURST_SUBMIT_SITE = dir .. "/site.lua"

local function complain(what, want, got)
	if want == got then return end
	wrong = wrong + 1
	print(string.format("%s: wanted %s, got %s", what, tostring(want), tostring(got)))
end

local function write(path, text)
	local file = assert(io.open(path, "w"))
	file:write(text)
	file:close()
end

local serial = 0
local function publish(lines, age)
	local text = table.concat(lines, "\n"):gsub("|", "\t") .. "\nend\n"
	serial = serial + 1
	write(BURST_SUBMIT_FILE, string.format("burstd-submit\t1\t%d\t%d\t%016x\n%s", os.time() - (age or 0), #text, serial, text))
end

local function load_script()
	slurm_job_submit, slurm_job_modify = nil, nil
	complain("loaded", 0, dofile(script))
end

-- --- the world -----------------------------------------------------------------------------------

local TABLE = {
	"site|currency=EUR|providers=aws,lambda",
	"pool|name=h100|can=8|why=pool h100 has max_nodes 8|gpus=h100:8|constraint=1|comment=1",
	"rung|pool=h100|market=ondemand|provider=aws|price=30000000000|in=SE,EU,EEA",
	"rung|pool=h100|market=spot|provider=aws|price=0|in=SE,EU,EEA",
	"pool|name=a100|can=4|why=pool a100 has max_rate 40.00 EUR/h, and a node costs 10.00|gpus=a100:4,a100_3g.20gb:2|constraint=1|comment=1",
	"rung|pool=a100|market=ondemand|provider=lambda|price=10000000000|in=US",
	"pool|name=cpu|can=2|why=pool cpu has max_nodes 2|live=1000000000",
	"rung|pool=cpu|market=ondemand|provider=aws|price=2000000000|in=",
	"pool|name=gone|can=0|why=pool gone buys none: no price|gpus=|constraint=1|comment=1",
	"pool|name=kept|can=3|why=pool kept buys none: no price|constraint=1",
	"partition|name=gpu|total=12|others=0|list=h[1-12]|pools=h100:12",
	"partition|name=two|total=20|others=0|list=h[1-12],a[1-8]|pools=h100:12,a100:8",
	"partition|name=a|total=8|others=0|list=a[1-8]|pools=a100:8",
	"partition|name=shared|total=2|others=0|list=s[1-2]|pools=a100:2",
	"partition|name=cpu|total=4|others=0|list=c[1-4]|pools=cpu:4",
	"partition|name=mixed|total=14|others=2|list=h[1-12],own[1-2]|pools=h100:12",
	"partition|name=none|total=2|others=0|list=g[1-2]|pools=gone:2",
	"partition|name=kept|total=3|others=0|list=k[1-3]|pools=kept:3",
	"budget|all=1|name=machines|rate=35000000000|pools=a100|market=ondemand",
	"budget|all=1|name=cpus|rate=1000000000|pools=cpu|market=ondemand",
	"budget|all=1|name=qos|rate=1000000|of=jobs|qos=low|wckeys=w",
	"budget|account=physics|name=physics|most=1000000000000|days=27|of=jobs|contact=finance@example.org",
	"budget|account=exact|name=exact|most=3750000000|days=0|of=jobs",
	"budget|account=lease|name=lease|most=100000000000|days=27|lease=3600|of=jobs",
	"budget|account=window|name=window|most=100000000000|days=0|of=jobs",
	"budget|user=eve|name=rate|rate=100000000000|of=jobs|users=eve",
	"budget|account=ab|name=ab|rate=1000000|of=jobs|providers=aws",
	"budget|account=part|name=part|rate=1000000|of=jobs|partitions=two",
	"account|name=optics|parent=physics",
	"account|name=lasers|parent=optics",
	"account|name=loop1|parent=loop2",
	"account|name=loop2|parent=loop1",
	"nonsense|of=a newer burstd",
}

local PARTS = {
	gpu = { nodes = "h[1-12]", total_nodes = 12, flag_default = 1, max_share = 1 },
	two = { nodes = "h[1-12],a[1-8]", total_nodes = 20, flag_default = 0, max_share = 1 },
	a = { nodes = "a[1-8]", total_nodes = 8, flag_default = 0, max_share = 0 },
	shared = { nodes = "s[1-2]", total_nodes = 2, flag_default = 0, max_share = 1 },
	cpu = { nodes = "c[1-4]", total_nodes = 4, flag_default = 0, max_share = 0 },
	mixed = { nodes = "h[1-12],own[1-2]", total_nodes = 14, flag_default = 0, max_share = 0 },
	none = { nodes = "g[1-2]", total_nodes = 2, flag_default = 0, max_share = 1 },
	kept = { nodes = "k[1-3]", total_nodes = 3, flag_default = 0, max_share = 1 },
	own = { nodes = "own[1-2]", total_nodes = 2, flag_default = 0, max_share = 1 },
}

-- As slurmctld gives them when the user said nothing.
local function job_of(fields)
	local job = { min_nodes = 4294967294, time_limit = 4294967294, time_min = 4294967294, shared = 65534, user_name = "ann" }
	for name, value in pairs(fields) do job[name] = value end
	return job
end

local function submit(fields, parts)
	user = {}
	local rc = slurm_job_submit(job_of(fields), parts or PARTS, 20001)
	return user[1], rc
end

local function describe(fields)
	local list = {}
	for name, value in pairs(fields) do list[#list + 1] = name .. "=" .. tostring(value) end
	table.sort(list)
	return table.concat(list, " ")
end

local function refused(fields, why, code)
	local got, rc = submit(fields)
	complain(describe(fields), "burstd: " .. why, got)
	complain(describe(fields) .. ": code", code or slurm.ERROR, rc)
	complain(describe(fields) .. ": sentences", 1, #user)
end

local function accepted(fields, parts)
	local got, rc = submit(fields, parts)
	complain(describe(fields), nil, got)
	complain(describe(fields) .. ": code", slurm.SUCCESS, rc)
end

-- --- cases ---------------------------------------------------------------------------------------

local NODES, TIME, POLICY = slurm.ESLURM_INVALID_NODE_COUNT, slurm.ESLURM_INVALID_TIME_LIMIT, slurm.ESLURM_ACCOUNTING_POLICY

local function test_nodes()
	accepted({ min_nodes = 8 })
	refused({ min_nodes = 9 }, "this job needs 9 nodes, and partition gpu can have 8 at most: pool h100 has max_nodes 8", NODES)
	refused({ min_nodes = 9, partition = "" }, "this job needs 9 nodes, and partition gpu can have 8 at most: pool h100 has max_nodes 8", NODES)
	accepted({ partition = "two", min_nodes = 12 })
	refused({ partition = "two", min_nodes = 13 },
		"this job needs 13 nodes, and partition two can have 12 at most: pool h100 has max_nodes 8", NODES)
	refused({ partition = "a", min_nodes = 5 },
		"this job needs 5 nodes, and partition a can have 4 at most: pool a100 has max_rate 40.00 EUR/h, and a node costs 10.00", NODES)
	accepted({ partition = "mixed", min_nodes = 10 })
	refused({ partition = "mixed", min_nodes = 11 },
		"this job needs 11 nodes, and partition mixed can have 10 at most: pool h100 has max_nodes 8", NODES)
	-- More than the partition has at all is slurmctld's to refuse; of several partitions each must be impossible.
	accepted({ partition = "gpu,two", min_nodes = 12 })
	refused({ partition = "gpu,a", min_nodes = 9 }, "this job needs 9 nodes, and partition gpu can have 8 at most: pool h100 has max_nodes 8", NODES)
	accepted({ partition = "gpu,own", min_nodes = 9 })
	accepted({ partition = "own", min_nodes = 99 })
	accepted({ min_nodes = 9, reservation = "r" })
	accepted({ min_nodes = 9 }, { own = PARTS.own }) -- no default partition, or one that the user may not have
	-- slurmctld has other partitions than burstd has seen.
	accepted({ min_nodes = 9 }, { gpu = { nodes = "h[1-13]", total_nodes = 12, flag_default = 1 } })
	accepted({ min_nodes = 9 }, { gpu = { nodes = "h[1-12]", total_nodes = 13, flag_default = 1 } })
	refused({ partition = "none" }, "partition none can have no node: pool gone buys none: no price")
	accepted({ partition = "kept", min_nodes = 3 })
	accepted({ partition = "kept", features = "spot" })
end

local function test_gpus()
	for _, form in ipairs({ "gres:gpu", "gres/gpu", "gpu", "gres:gpu:8", "gres/gpu=8", "gres:gpu:h100", "gres:gpu:h100:8",
		"gres/gpu:h100=8", "gres:gpu:H100:8", "gres:nic:4", "gres:gpu:8,gres:nic:1", "gres:gpu:2k", "license:x", "gres:gpu:0" }) do
		accepted({ tres_per_node = form })
	end
	refused({ tres_per_node = "gres:gpu:a100:1" }, "no node of partition gpu has GPUs of type a100: it has h100")
	refused({ tres_per_node = "gres/gpu:a100" }, "no node of partition gpu has GPUs of type a100: it has h100")
	refused({ tres_per_node = "gres:nic:1,gres:gpu:9" }, "this job needs 9 GPUs on a node, and a node of partition gpu has 8 at most")
	refused({ tres_per_job = "gres:gpu:65" }, "this job needs 65 GPUs, and partition gpu can have 64 at most")
	accepted({ tres_per_job = "gres:gpu:64" })
	accepted({ partition = "two", tres_per_job = "gres:gpu:h100:64" })
	refused({ partition = "two", tres_per_job = "gres:gpu:h100:65" }, "this job needs 65 GPUs, and partition two can have 64 at most")
	accepted({ partition = "two", tres_per_job = "gres:gpu:88" })
	refused({ partition = "two", tres_per_node = "gres:gpu:b200:1" },
		"no node of partition two has GPUs of type b200: it has h100, a100, a100_3g.20gb")
	accepted({ partition = "a", tres_per_node = "gres:gpu:a100_3g.20gb:2" })
	accepted({ partition = "mixed", tres_per_node = "gres:gpu:b200:99" })
	accepted({ partition = "cpu", tres_per_node = "gres:gpu:b200:99" }) -- what it has is not known
end

local function test_wishes()
	for _, c in ipairs({ "spot", "ondemand", "aws", "spot&aws", "spot|reserved", "cloud", "cloud|reserved", "(spot&reserved)",
		"reserved*2", "[reserved]", "cloud&h100", "spot|ondemand&reserved" }) do
		accepted({ features = c })
	end
	for _, c in ipairs({ "reserved", "lambda", "spot&reserved", "spot&lambda", "reserved|lambda", "cloud&lambda" }) do
		refused({ features = c }, "nothing that partition gpu can buy meets --constraint=" .. c)
	end
	for _, c in ipairs({ "burst:spot", "burst:EU", "burst:SE", "burst:EEA,US", "burst:aws,lambda", "note burst:EU,spot; more",
		"sunburst:US", "burst:typo", "burst:max_price=30", "burst:max_price=5", "burst:", "burst:max_price=x", "BURST:US",
		"burst:TOOLONGWORD", string.rep("x", 2000) .. " burst:US" }) do
		accepted({ comment = c })
	end
	for _, c in ipairs({ "burst:US", "burst:EUU", "burst:reserved", "burst:lambda", "burst:EU burst:US", "x,burst:US",
		"burst:ondemand,max_price=29.99", "burst:on-demand burst:spot" }) do
		refused({ comment = c }, "nothing that partition gpu can buy meets --comment=" .. c)
	end
	refused({ features = "spot", comment = "burst:US" }, "nothing that partition gpu can buy meets --constraint=spot and --comment=burst:US")
	refused({ features = "ondemand", comment = "burst:max_price=20" },
		"nothing that partition gpu can buy meets --constraint=ondemand and --comment=burst:max_price=20")
	refused({ comment = "a\nb burst:US %s" }, "nothing that partition gpu can buy meets --comment=a b burst:US %s")
	accepted({ partition = "two", comment = "burst:US" })
	accepted({ partition = "cpu", comment = "burst:US", features = "spot" })
	accepted({ partition = "mixed", features = "reserved" })
end

local function test_budgets()
	local function physics(fields)
		fields.account, fields.features, fields.shared = fields.account or "physics", fields.features or "ondemand", fields.shared or 0
		return fields
	end
	-- 4 nodes of 30.00: 2000.00 may lie in two months.
	accepted(physics({ min_nodes = 4, time_limit = 1000 }))
	refused(physics({ min_nodes = 4, time_limit = 1020 }),
		"budget physics: this job costs 2040.00 EUR at least until its time limit, and all of the budget is 1000.00 EUR; ask finance@example.org", TIME)
	accepted(physics({ min_nodes = 4, time_limit = 4294967294 }))
	accepted(physics({ min_nodes = 4, time_limit = 4294967295 }))
	accepted(physics({ min_nodes = 4, time_limit = 9999, time_min = 60 }))
	accepted(physics({ min_nodes = 4, time_limit = 9999, features = "spot" }))
	accepted({ account = "physics", min_nodes = 4, time_limit = 9999, shared = 0 }) -- spot may do
	accepted(physics({ min_nodes = 4, time_limit = 9999, shared = 65534 })) -- its part is not known
	refused(physics({ min_nodes = 4, time_limit = 2040, shared = 65534, tres_per_node = "gres:gpu:4" }),
		"budget physics: this job costs 2040.00 EUR at least until its time limit, and all of the budget is 1000.00 EUR; ask finance@example.org", TIME)
	refused(physics({ min_nodes = 4, time_limit = 1020, account = "LASERS" }),
		"budget physics: this job costs 2040.00 EUR at least until its time limit, and all of the budget is 1000.00 EUR; ask finance@example.org", TIME)
	accepted(physics({ min_nodes = 4, time_limit = 9999, account = "loop1" }))
	accepted(physics({ min_nodes = 4, time_limit = 9999, account = "chemistry" }))
	user = {}
	local job = job_of(physics({ min_nodes = 4, time_limit = 1020 }))
	job.account, job.default_account = nil, "physics"
	complain("the default account counts", TIME, slurm_job_submit(job, PARTS, 1))
	-- As long as a period is, in parts.
	accepted(physics({ time_limit = 28 * 1440, features = "ondemand", account = "none" }))
	accepted(physics({ min_nodes = 6, time_limit = 9999, account = "lease" }))
	refused(physics({ min_nodes = 7, time_limit = 9999, account = "lease" }),
		"budget lease: this job costs 210.00 EUR at least until its time limit, and all of the budget is 100.00 EUR", TIME)
	accepted(physics({ min_nodes = 1, time_limit = 200, account = "window" }))
	refused(physics({ min_nodes = 1, time_limit = 201, account = "window" }),
		"budget window: this job costs 100.50 EUR at least until its time limit, and all of the budget is 100.00 EUR", TIME)
	-- 5 of 6 GPUs for 27 minutes are all of it, and a bit more in floating point.
	accepted({ partition = "shared", account = "exact", tres_per_node = "gres:gpu:5", time_limit = 27 })
	refused({ partition = "shared", account = "exact", tres_per_node = "gres:gpu:5", time_limit = 28 },
		"budget exact: this job costs 3.89 EUR at least until its time limit, and all of the budget is 3.75 EUR", TIME)
	refused({ user_name = "eve", features = "ondemand", shared = 0, min_nodes = 4 },
		"budget rate: this job costs 120.00 EUR an hour at least, and all of the budget is 100.00 EUR", POLICY)
	accepted({ user_name = "eve", features = "ondemand", shared = 0, min_nodes = 3 })
	-- Machines count whole, whoever has them.
	refused({ partition = "a", min_nodes = 4 }, "budget machines: this job costs 40.00 EUR an hour at least, and all of the budget is 35.00 EUR", POLICY)
	accepted({ partition = "a", min_nodes = 3 })
	accepted({ partition = "two", min_nodes = 4, features = "ondemand" })
	accepted({ partition = "cpu", min_nodes = 2 }) -- two are up, of which nobody knows how they were bought
	accepted({ user_name = "bob", qos = "low", shared = 0, features = "ondemand" })
	accepted({ wckey = "w", shared = 0, features = "ondemand" })
	refused({ qos = "low", wckey = "w", shared = 0, features = "ondemand" },
		"budget qos: this job costs 30.00 EUR an hour at least, and all of the budget is 0.00 EUR", POLICY)
	refused({ account = "ab", shared = 0, features = "ondemand" },
		"budget ab: this job costs 30.00 EUR an hour at least, and all of the budget is 0.00 EUR", POLICY)
	accepted({ partition = "two", account = "ab", shared = 0, features = "ondemand" }) -- lambda is not the budget's
	accepted({ account = "part", shared = 0, features = "ondemand" })
	refused({ partition = "two", account = "part", shared = 0, features = "ondemand" },
		"budget part: this job costs 10.00 EUR an hour at least, and all of the budget is 0.00 EUR", POLICY)
	accepted({ partition = "mixed", account = "ab", shared = 0, features = "ondemand" })
end

local function test_file()
	local line = "burstd refuses no job at its submission: " .. BURST_SUBMIT_FILE
	local function lacks(what, words)
		log = {}
		load_script()
		accepted({ min_nodes = 9 })
		accepted({ min_nodes = 9 })
		complain(what .. ": lines in the log", 1, #log)
		complain(what, 1, (tostring(log[1]):find(line .. words, 1, true) and 1))
	end
	os.remove(BURST_SUBMIT_FILE)
	lacks("missing", " cannot be read")
	for _, text in ipairs({ "", "\n", "burstd-submit\t2\t1\t4\tab\nend\n", "burstd-submit\t1\tx\t4\tab\nend\n", ("x"):rep(400000), "\0\0\0",
		string.format("burstd-submit\t1\t%d\t400001\tab\n%s\nend\n", os.time(), ("x"):rep(399996)),
		string.format("burstd-submit\t1\t%d\t4\tab\nend\nmore", os.time()),
		string.format("burstd-submit\t1\t%d\t6\tab\nno end", os.time()),
		string.format("burstd-submit\t1\t%d\t17\tab\nos.exit(99)  \nend\n", os.time()) }) do
		write(BURST_SUBMIT_FILE, text)
		if text:find("os.exit", 1, true) then
			load_script()
			accepted({ min_nodes = 9 })
		else
			lacks("malformed: " .. text:sub(1, 60), " is malformed")
		end
	end
	publish(TABLE, 301)
	lacks("old", " is 301 s old")
	publish(TABLE, -301)
	lacks("from the future", " is -301 s old")
	publish(TABLE, 290)
	refused({ min_nodes = 9 }, "this job needs 9 nodes, and partition gpu can have 8 at most: pool h100 has max_nodes 8", NODES)
	-- Another table counts at once; the same text cut short does not count.
	publish({ TABLE[1], "pool|name=h100|can=10|why=pool h100 has max_nodes 10", TABLE[3], TABLE[11] })
	accepted({ min_nodes = 10 })
	publish(TABLE)
	accepted({ min_nodes = 8 })
	local file = io.open(BURST_SUBMIT_FILE)
	local text = file:read("*a")
	file:close()
	write(BURST_SUBMIT_FILE, text:sub(1, -20))
	accepted({ min_nodes = 9 })
	-- What makes half a sense accepts, and is said.
	for _, lines in ipairs({ { "partition|name=gpu|pools=what:12" }, { "partition|name=gpu|x=1" },
		{ "partition|name=gpu|total=12|others=0|list=h[1-12]|pools=h100" } }) do
		load_script()
		publish(lines)
		log = {}
		accepted({ min_nodes = 2 })
		complain(lines[#lines] .. ": lines in the log", 1, #log)
	end
	-- What the script itself gets wrong accepts, too.
	publish(TABLE)
	log = {}
	accepted({ min_nodes = 9, partition = {} })
	complain("its own error is in the log", 1, #log)
end

local function test_site()
	publish(TABLE)
	write(BURST_SUBMIT_SITE, [[
		local count = 0
		function slurm_job_submit(job, parts, uid)
			count = count + 1
			site_uid = uid
			if job.name == "no" then return 7 end
			job.min_nodes = 9
			return slurm.SUCCESS
		end
		function slurm_job_modify(job, record, parts, uid) return 8, count end
		return slurm.SUCCESS
	]])
	load_script()
	accepted({ partition = "own" })
	complain("the site's function has the user", 20001, site_uid)
	refused({}, "this job needs 9 nodes, and partition gpu can have 8 at most: pool h100 has max_nodes 8", NODES)
	complain("the site refuses", 7, (select(2, submit({ name = "no" }))))
	complain("... without a word of burstd's", 0, #user)
	complain("the site's modify", 8, (slurm_job_modify({}, {}, PARTS, 1)))
	write(BURST_SUBMIT_SITE, "this is no Lua")
	complain("a broken script of the site does not load", false, (pcall(dofile, script)))
	os.remove(BURST_SUBMIT_SITE)
	load_script()
	complain("modify without a site", 0, slurm_job_modify({ min_nodes = 9 }, {}, PARTS, 1))
end

-- --- time ----------------------------------------------------------------------------------------

-- The largest table that burstd writes, about.
local function large()
	local list, parts = { TABLE[1] }, {}
	for i = 1, 200 do
		list[#list + 1] = string.format("pool|name=p%d|can=8|why=pool p%d has max_nodes 8|gpus=h100:8|constraint=1|comment=1", i, i)
		for k = 1, 2 do
			list[#list + 1] = string.format("rung|pool=p%d|market=%s|provider=aws|price=30000000000|in=SE,EU,EEA", i, k == 1 and "spot" or "ondemand")
		end
		list[#list + 1] = string.format("partition|name=part%d|total=12|others=0|list=p%d-[1-12]|pools=p%d:12", i, i, i)
		parts["part" .. i] = { nodes = string.format("p%d-[1-12]", i), total_nodes = 12, flag_default = i == 1 and 1 or 0, max_share = 0 }
	end
	for i = 1, 500 do
		list[#list + 1] = string.format("budget|%s|name=b%d|most=100000000000000|days=27|of=jobs", i > 50 and "account=a" .. i or "all=1", i)
	end
	for i = 1, 1000 do
		list[#list + 1] = string.format("account|name=lab%d|parent=a%d", i, i)
	end
	return list, parts
end

-- Texts that users make as long as they like, since slurmctld looks at their lengths only after its script.
local function test_long()
	publish(TABLE)
	load_script()
	local function quick(what, fields, why)
		local began = os.clock()
		local got, rc = submit(fields)
		local ms = (os.clock() - began) * 1000
		complain(what, why and "burstd: " .. why, got)
		complain(what .. ": code", why == nil and slurm.SUCCESS or nil, why == nil and rc or nil)
		if ms > 10 then complain(what, "at most 10 ms", ms .. " ms") end
	end
	quick("warm", { min_nodes = 8 })
	for name, word in pairs({ partition = "gpu,", features = "reserved|", tres_per_node = "gpu:9,", tres_per_job = "gpu:99,",
		comment = "burst:US ", account = "physics,", qos = "low,", wckey = "w,", user_name = "eve," }) do
		quick(name .. " without end", { min_nodes = 9, [name] = word:rep(500000) })
	end
	-- Within the limit what is said again counts once, and too much of it refuses nothing.
	local nodes = "this job needs 9 nodes, and partition gpu can have 8 at most: pool h100 has max_nodes 8"
	quick("a partition again", { min_nodes = 9, partition = ("gpu,"):rep(30) .. "gpu" }, nodes)
	quick("too many partitions", { min_nodes = 9, partition = ("gpu,"):rep(33) })
	quick("a word again", { features = ("lambda|"):rep(280) .. "reserved" },
		"nothing that partition gpu can buy meets --constraint=" .. ("lambda|"):rep(280) .. "reserved")
	quick("one that is not ours", { features = ("lambda|"):rep(280) .. "other" })
	quick("GPUs", { tres_per_node = ("gpu:9,"):rep(32) }, "this job needs 9 GPUs on a node, and a node of partition gpu has 8 at most")
	quick("too many GPUs", { tres_per_node = ("gpu:9,"):rep(33) })
	quick("wishes", { comment = ("burst:US "):rep(32) }, "nothing that partition gpu can buy meets --comment=" .. ("burst:US "):rep(32):sub(1, 200))
	quick("too many wishes", { comment = ("burst:US "):rep(33) })
	quick("words that say nothing are no wishes", { comment = ("burst:typo "):rep(100) .. "burst:US" },
		"nothing that partition gpu can buy meets --comment=" .. ("burst:typo "):rep(100):sub(1, 200))
	quick("prices", { comment = "burst:" .. ("max_price=1.1234567890,"):rep(86) })
	-- Each with names that nobody has: of what is not there no more is kept than of what is.
	local function kept(calls)
		for i = 1, calls do
			accepted({ account = "a" .. i .. ("x"):rep(200), user_name = "u" .. i, partition = i % 2 == 0 and "a" or "p" .. i })
		end
		collectgarbage()
		collectgarbage()
		return collectgarbage("count")
	end
	local before = kept(10)
	local after = kept(30000)
	if after - before > 2500 then complain("memory", "at most 2500 KiB more", after - before .. " KiB") end
	refused({ min_nodes = 9 }, nodes, NODES)
	refused({ account = "lasers", min_nodes = 4, time_limit = 1020, features = "ondemand", shared = 0 },
		"budget physics: this job costs 2040.00 EUR at least until its time limit, and all of the budget is 1000.00 EUR; ask finance@example.org", TIME)
end

local function bench(calls)
	local lines, parts = large()
	local times, first = {}, 0
	for i = 1, calls do
		local job = job_of({ partition = "part" .. i % 200 + 1, min_nodes = 8, time_limit = 600, account = "lab" .. i % 1000 + 1,
			features = "ondemand&aws", comment = "burst:EU,max_price=40", tres_per_node = "gres:gpu:h100:8" })
		local new = i % 200 == 1 -- with 40 submissions a second burstd may have written another one, after 5 s
		if new then publish(lines) end
		local began = os.clock()
		local rc = slurm_job_submit(job, parts, 1)
		times[i] = os.clock() - began
		if new then first = first + times[i] end
		if rc ~= slurm.SUCCESS then complain("call " .. i, slurm.SUCCESS, rc) end
	end
	table.sort(times)
	-- What cannot be saved: to open the file and to read its first line.
	local began = os.clock()
	for _ = 1, calls do
		local file = io.open(BURST_SUBMIT_FILE)
		file:read("*l")
		file:close()
	end
	local floor = (os.clock() - began) / calls
	local p50, p99, most = times[math.ceil(calls * 0.5)], times[math.ceil(calls * 0.99)], times[calls]
	print(string.format("# %s: %d calls, p50 %.0f us, p99 %.0f us, most %.0f us; with a new table %.0f us; floor %.0f us", _VERSION, calls,
		p50 * 1e6, p99 * 1e6, most * 1e6, first / calls * 200 * 1e6, floor * 1e6))
	if p99 > 0.001 then complain("p99 of a call", "at most 1 ms", p99 * 1e3 .. " ms") end
	if most > 0.02 then complain("the longest call", "at most 20 ms", most * 1e3 .. " ms") end
end

publish(TABLE)
load_script()
test_nodes()
test_gpus()
test_wishes()
test_budgets()
test_file()
test_site()
test_long()
bench(10000)
os.exit(wrong == 0 and 0 or 1)
