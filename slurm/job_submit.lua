-- job_submit.lua - refuses a job at its submission that can never run on the nodes that burstd buys.
--
-- Copy it beside slurm.conf, where slurmctld looks for it, and set JobSubmitPlugins=lua there.  A job_submit.lua of your
-- own stays as it is under another name, job_submit_site.lua in the same directory: its functions are called first, and
-- what they refuse is refused.  slurmctld loads both when this file's time of change is new (`touch` it).
--
-- It runs inside slurmctld, which waits for it: it reads one small file that burstd replaces as a whole, asks nobody and
-- starts nothing.  Whatever it does not know, and any error of its own, accepts the job, and so does a file that is
-- missing, malformed or old.  docs/slurm.md says what is refused; docs/adr/0065 has the format of the file.

local PATH = BURST_SUBMIT_FILE or "/run/burstd/submit"
local OLD_S = 300       -- burstd writes the file at least once a minute
local SAY_S = 600       -- between two lines in slurmctld's log that say the same
local SIZE_MAX = 300000 -- bytes
local PARENTS_MAX = 64  -- accounts above one another; a loop ends
local CODE_MAX = 8      -- bytes of a country, or of what looks like one
-- Users write what follows, and slurmctld waits.  It refuses texts above 1,024 bytes itself, but only after this script.
local TEXT_MAX = 2000   -- bytes of one of a job's texts; a job with a longer one is accepted
local NAMES_MAX = 32    -- partitions of a job; one with more is accepted
local LIST_MAX = 32     -- kinds of GPUs, or groups of wishes, of a job; more of them refuse nothing
local KEPT_MAX = 4000   -- names that are kept of one table, most of which it does not have
local NANO = 1e9
local MORE = 1 + 1e-9   -- sums are of doubles: what is equal must not be refused

-- --- the file ----------------------------------------------------------------------------------

local table_of = {} -- what the file says; sum: of its text

local function words(text)
	local list = {}
	for word in text:gmatch("[^,]+") do list[#list + 1] = word end
	return list
end

local function set_of(text, fold)
	if text == nil then return nil end
	local set = {}
	for _, word in ipairs(words(text)) do set[fold and word:lower() or word] = true end
	return set
end

-- A line of the table is a word and fields, NAME=VALUE, with a tab before each.  A call looks for the few lines that are
-- about its job and keeps what it has read, so that a new table costs no more than it is used.

local function fields_of(line)
	local fields = {}
	for name, value in line:gmatch("\t([^\t=]+)=([^\t]*)") do fields[name] = value end
	return fields
end

-- The fields of the next line of this kind whose first field is this, and where it ends; nil: there is none.
local function find_line(t, kind, name, value, from)
	if value:find("%c") then return nil end
	local at = t.text:find("\n" .. kind .. "\t" .. name .. "=" .. value .. "\t", from or 1, true)
	if at == nil then return nil end
	local last = t.text:find("\n", at + 1, true)
	return fields_of(t.text:sub(at + 1, last - 1)), last
end

-- What make(t, NAME) returns, once for each table; false for nil.
local function once(t, kind, name, make)
	local kept = t.kept[kind]
	if kept == nil then
		kept = {}
		t.kept[kind] = kept
	end
	if kept[name] == nil then
		if t.names == KEPT_MAX then
			kept = {}
			t.kept, t.names = { [kind] = kept }, 0
		end
		t.names = t.names + 1
		kept[name] = make(t, name) or false
	end
	return kept[name]
end

local function read_gpus(text)
	if text == nil then return nil end
	local gpus = {}
	for _, item in ipairs(words(text)) do
		local kind, count = item:match("^(.*):(%d+)$")
		gpus[#gpus + 1] = { kind = kind, count = tonumber(count) }
	end
	return gpus
end

local function read_pool(t, name)
	local f, at = find_line(t, "pool", "name", name)
	assert(f ~= nil, "a partition has a pool that there is not")
	local pool = {
		name = name, can = tonumber(f.can), why = f.why, gpus = read_gpus(f.gpus), rungs = {}, live = tonumber(f.live),
		by_constraint = f.constraint == "1", by_comment = f.comment == "1",
	}
	while t.text:sub(at, at + 5) == "\nrung\t" do
		local last = t.text:find("\n", at + 1, true)
		local r = fields_of(t.text:sub(at + 1, last - 1))
		pool.rungs[#pool.rungs + 1] = {
			market = r.market, provider = r.provider, price = tonumber(r.price), places = set_of(r["in"]),
		}
		at = last
	end
	return pool
end

local function read_partition(t, name)
	local f = find_line(t, "partition", "name", name)
	if f == nil then return nil end
	local part = { total = tonumber(f.total), others = tonumber(f.others), list = f.list, pools = {} }
	for _, item in ipairs(words(f.pools)) do
		local pool, count = item:match("^(.*):(%d+)$")
		part.pools[#part.pools + 1] = { pool = once(t, "pool", pool, read_pool), nodes = tonumber(count) }
	end
	return part
end

local function read_budget(f)
	return {
		name = f.name, most = tonumber(f.most), days = tonumber(f.days), lease = tonumber(f.lease), rate = tonumber(f.rate),
		of_jobs = f.of == "jobs", market = f.market, contact = f.contact, partitions = set_of(f.partitions, true),
		pools = set_of(f.pools, true), providers = set_of(f.providers, true), users = set_of(f.users, true),
		qos = set_of(f.qos, true), wckeys = set_of(f.wckeys, true),
	}
end

-- The budgets of one account, of one user, or ("all=1") of neither: their lines follow one another.
local function read_payers(t, key)
	local kind, name = key:match("^(%a+)=(.*)$")
	local list = {}
	local f, at = find_line(t, "budget", kind, name)
	local head = "\nbudget\t" .. key .. "\t"
	while f ~= nil do
		list[#list + 1] = read_budget(f)
		if t.text:sub(at, at + #head - 1) ~= head then break end
		f, at = find_line(t, "budget", kind, name, at)
	end
	return list
end

local function read_parent(t, account)
	local f = find_line(t, "account", "name", account)
	return f and f.parent
end

local function add_payers(t, list, kind, name)
	for _, budget in ipairs(once(t, "payer", kind .. "=" .. name, read_payers)) do list[#list + 1] = budget end
end

-- Those whose lists the account or the user is in; their other lists are for pays().
local function budgets_of(t, account, user)
	local list = {}
	add_payers(t, list, "all", "1")
	if user ~= nil then add_payers(t, list, "user", user) end
	for _ = 1, PARENTS_MAX do
		if not account then break end
		add_payers(t, list, "account", account)
		account = once(t, "account", account, read_parent)
	end
	return list
end

local function new_table(text)
	local t = { text = text, kept = {}, names = 0 }
	local currency, providers = text:match("^\nsite\tcurrency=(%u*)\tproviders=([^\t\n]*)\n")
	t.currency, t.providers = currency or "", set_of(providers or "")
	return t
end

-- The table; nil, what is wrong and how it reads: there is none that counts.
local function load_table(now)
	local file = io.open(PATH, "r")
	if file == nil then return nil, "missing", PATH .. " cannot be read" end
	local head = file:read("*l") or ""
	local version, written, size, sum = head:match("^burstd%-submit\t(%d+)\t(%d+)\t(%d+)\t(%x+)$")
	if version ~= "1" or tonumber(size) > SIZE_MAX or file:seek("end") ~= #head + 1 + tonumber(size) then
		file:close()
		return nil, "malformed", PATH .. " is malformed"
	end
	local age = now - tonumber(written)
	if age > OLD_S or age < -OLD_S then
		file:close()
		return nil, "old", string.format("%s is %d s old", PATH, age)
	end
	if table_of.sum ~= sum then
		file:seek("set", #head) -- with the newline: each line begins with one
		local text = file:read(SIZE_MAX) or ""
		if text:sub(-4) ~= "end\n" then
			file:close()
			return nil, "malformed", PATH .. " is malformed"
		end
		table_of = new_table(text)
		table_of.sum = sum
	end
	file:close()
	return table_of
end

-- --- what the job wants ------------------------------------------------------------------------

-- A number that was given.  NO_VAL and INFINITE of 16, 32 and 64 bits are none.
local function number_of(value)
	value = tonumber(value)
	if value == nil or value < 0 or value >= 0xfffffff0 then return nil end
	return value
end

local function text_of(value)
	if value == nil or value == "" then return nil end
	return value
end

-- "gres:gpu:h100:8", "gres/gpu=2": kind ("" for any) and count of each entry about GPUs; nil: one cannot be read.
local function gpus_of(text)
	local list = {}
	for _, item in ipairs(words(text or "")) do
		local name, rest = item:match("^gres[:/]([^:=]+)(.*)$")
		if name == nil then name, rest = item:match("^([^:=]+)(.*)$") end
		if name == "gpu" then
			if #list == LIST_MAX then return nil end
			local kind, count = rest:match("^:([^:=]+)[:=](%d+)$")
			if kind == nil then count = rest:match("^[:=](%d+)$") end
			if kind == nil and count == nil then kind = rest:match("^:(%a[^:=]*)$") end
			if kind == nil and count == nil and rest ~= "" then return nil end
			list[#list + 1] = { kind = kind or "", count = tonumber(count or "1") }
		end
	end
	return list
end

-- Minutes for which the job's cost is set aside at least; nil: not said.
local function minutes_of(job)
	local limit, least = number_of(job.time_limit), number_of(job.time_min)
	if limit ~= nil and least ~= nil and least > 0 and least < limit then return least end
	return limit
end

-- What --comment says, as core/wish.h has it: a list of groups, each with alternatives by kind.
local function wishes_of(t, comment)
	local groups, most = {}, nil
	if comment == nil then return groups, most end
	local padded = " " .. comment
	for before, list in padded:gmatch("(.)burst:([^%c ;]*)") do
		if before:match("[%c ;,]") then
			local group = {}
			for word in list:gmatch("[^,]+") do
				local price = word:match("^max_price=(%d+)$") or word:match("^max_price=(%d+%.%d%d?%d?%d?%d?%d?%d?%d?%d?)$")
				local kind
				if word == "on-demand" then word = "ondemand" end
				if word == "spot" or word == "ondemand" or word == "reserved" then
					kind = "market"
				elseif t.providers[word] then
					kind = "provider"
				elseif price ~= nil then
					price = tonumber(price) * NANO
					if price > 0 and (most == nil or price < most) then most = price end
				elseif #word <= CODE_MAX and word:match("^%u[%u%-]+$") then
					kind = "place"
				end
				if kind ~= nil then
					group[kind] = group[kind] or {}
					group[kind][word] = true
				end
			end
			if #groups == LIST_MAX then return {}, nil end
			if next(group) ~= nil then groups[#groups + 1] = group end
		end
	end
	return groups, most
end

-- --constraint as alternatives or as conditions, of words alone: those of burstd's, each once.  nil: it restricts nothing
-- here, for it is anything else, or has an alternative that is not one of burstd's.
local function constraint_of(t, text)
	if text == nil or text:find("[^%w_%-%.&|]") or (text:find("&", 1, true) and text:find("|", 1, true)) then return nil end
	local all = text:find("|", 1, true) == nil
	local list, seen = {}, {}
	for word in text:gmatch("[^&|]+") do
		local ours = word == "spot" or word == "ondemand" or word == "reserved" or t.providers[word]
		if not ours and not all then return nil end
		if ours and not seen[word] then
			seen[word] = true
			list[#list + 1] = word
		end
	end
	return { all = all, words = list }
end

local function meets_constraint(rung, constraint)
	for _, word in ipairs(constraint.words) do
		local is = rung.market == word or rung.provider == word
		if is ~= constraint.all then return is end
	end
	return constraint.all
end

local function meets_any(places, allowed)
	for word in pairs(allowed) do
		if places[word] then return true end
	end
	return false
end

local function meets_wishes(rung, groups, most)
	for _, group in ipairs(groups) do
		if group.market and not group.market[rung.market] then return false end
		if group.provider and not group.provider[rung.provider] then return false end
		if group.place and not meets_any(rung.places, group.place) then return false end
	end
	return most == nil or rung.price <= most * MORE
end

local function rungs_for(pool, want)
	local rungs = {}
	for _, rung in ipairs(pool.rungs) do
		local meets = true
		if pool.by_constraint and want.constraint then meets = meets_constraint(rung, want.constraint) end
		if meets and pool.by_comment then meets = meets_wishes(rung, want.groups, want.most) end
		if meets then rungs[#rungs + 1] = rung end
	end
	return rungs
end

-- --- why it can never run ----------------------------------------------------------------------

local function money(t, nano)
	return string.format("%.2f %s", nano / NANO, t.currency)
end

local function too_many_nodes(part, want)
	local can, why = part.others, nil
	for _, p in ipairs(part.pools) do
		local n = math.min(p.nodes, p.pool.can)
		can = can + n
		if p.pool.can < p.nodes and why == nil then why = p.pool.why end
	end
	if want.nodes == nil or want.nodes <= can or why == nil then return nil end
	return string.format("this job needs %d nodes, and partition %s can have %d at most: %s", want.nodes, want.partition, can, why),
		slurm.ESLURM_INVALID_NODE_COUNT or slurm.ERROR
end

-- The most GPUs of this kind that a node has, and all nodes together; nil: not known.
local function gpus_there(part, kind)
	local node, all, kinds = 0, 0, {}
	for _, p in ipairs(part.pools) do
		if p.pool.gpus == nil then return nil end
		local here = 0
		for _, g in ipairs(p.pool.gpus) do
			if g.kind == "" and kind ~= "" then return nil end
			if g.kind ~= "" and not kinds[g.kind] then
				kinds[g.kind] = true
				kinds[#kinds + 1] = g.kind
			end
			if kind == "" or g.kind:lower() == kind:lower() then here = here + g.count end
		end
		node = math.max(node, here)
		all = all + here * math.min(p.nodes, p.pool.can)
	end
	return node, all, table.concat(kinds, ", ")
end

local function no_such_gpus(part, want)
	if part.others > 0 then return nil end
	for _, how in ipairs({ "node", "job" }) do
		for _, g in ipairs(want.gpus[how] or {}) do
			local node, all, kinds = gpus_there(part, g.kind)
			if node == nil then
				-- Slurm knows.
			elseif node == 0 and g.count > 0 then
				if kinds == "" or g.kind == "" then return string.format("partition %s has no GPUs", want.partition), slurm.ERROR end
				return string.format("no node of partition %s has GPUs of type %s: it has %s", want.partition, g.kind, kinds), slurm.ERROR
			elseif how == "node" and g.count > node then
				return string.format("this job needs %d GPUs on a node, and a node of partition %s has %d at most", g.count,
					want.partition, node), slurm.ERROR
			elseif how == "job" and g.count > all then
				return string.format("this job needs %d GPUs, and partition %s can have %d at most", g.count, want.partition, all), slurm.ERROR
			end
		end
	end
	return nil
end

-- The rungs that the job may be bought from, and what a node costs it at least; 0: not known.
local function places(part, want)
	local all, least = {}, nil
	for _, p in ipairs(part.pools) do
		local rungs = rungs_for(p.pool, want)
		for _, rung in ipairs(rungs) do
			all[#all + 1] = { pool = p.pool, rung = rung }
			least = math.min(least or rung.price, rung.price)
		end
		if p.pool.live ~= nil then least = math.min(least or p.pool.live, p.pool.live) end
	end
	return all, least or 0
end

local function no_place(part, want, all)
	if part.others > 0 or #all > 0 then return nil end
	local had, why = false, nil
	for _, p in ipairs(part.pools) do
		had = had or #p.pool.rungs > 0
		if p.pool.can > 0 and #p.pool.rungs == 0 then return nil end -- it has nodes that nothing here knows of
		why = why or p.pool.why
	end
	if not had then return string.format("partition %s can have no node: %s", want.partition, why), slurm.ERROR end
	local wishes = {}
	if want.constraint then wishes[#wishes + 1] = "--constraint=" .. want.features end
	if want.comment then wishes[#wishes + 1] = "--comment=" .. want.comment:gsub("%c", " "):sub(1, 200) end
	return string.format("nothing that partition %s can buy meets %s", want.partition, table.concat(wishes, " and ")), slurm.ERROR
end

-- Does the budget pay for the job, wherever it is bought?
local function pays(b, part, want, all)
	if b.users and not (want.user and b.users[want.user]) then return false end
	if b.qos and not (want.qos and b.qos[want.qos]) then return false end
	if b.wckeys and not (want.wckey and b.wckeys[want.wckey]) then return false end
	if b.partitions and not b.partitions[want.partition:lower()] then return false end
	for _, p in ipairs(part.pools) do
		if b.pools and not b.pools[p.pool.name:lower()] then return false end
		-- A machine that is up may be another partition's, or of a market that is not bought any more.
		if p.pool.live and (b.market or b.providers or (b.partitions and not b.of_jobs)) then return false end
	end
	for _, at in ipairs(all) do
		if b.market and at.rung.market ~= b.market then return false end
		if b.providers and not b.providers[at.rung.provider:lower()] then return false end
	end
	return true
end

-- The part of each node that is the job's at least.
local function share_of(part, want)
	if want.exclusive then return 1 end
	local share = 0
	for _, g in ipairs(want.gpus.node or {}) do
		local node = gpus_there(part, "")
		if node ~= nil and node > 0 then share = math.max(share, math.min(1, g.count / node)) end
	end
	return share
end

local function too_dear(t, part, want, all, least)
	if part.others > 0 or least <= 0 then return nil end
	local nodes = want.nodes or 1
	for _, b in ipairs(budgets_of(t, want.account, want.user)) do
		if pays(b, part, want, all) then
			local rate = 1.0 * nodes * least * (b.of_jobs and share_of(part, want) or 1)
			local ask = b.contact and "; ask " .. b.contact or ""
			if b.rate and rate > b.rate * MORE then
				return string.format("budget %s: this job costs %s an hour at least, and all of the budget is %s%s", b.name,
					money(t, rate), money(t, b.rate), ask), slurm.ESLURM_ACCOUNTING_POLICY or slurm.ERROR
			end
			if b.most and want.minutes then
				local minutes = math.min(want.minutes, b.lease and b.lease / 60 or want.minutes)
				-- Its time may be in several periods: as many as it can touch, and one of them has as much as the others.
				local pieces = b.days == 0 and 1 or math.ceil(minutes / (b.days * 1440)) + 1
				local cost = rate * minutes / 60
				if cost / pieces > b.most * MORE then
					return string.format("budget %s: this job costs %s at least until its time limit, and all of the budget is %s%s",
						b.name, money(t, cost), money(t, b.most), ask), slurm.ESLURM_INVALID_TIME_LIMIT or slurm.ERROR
				end
			end
		end
	end
	return nil
end

-- Why the job can never run in this partition, and slurmctld's error for that; nil: it may.
local function judge_in(t, want, partition, record)
	local part = once(t, "partition", partition, read_partition)
	-- The table is of another slurm.conf than slurmctld's.
	if not part or record == nil or record.nodes ~= part.list or record.total_nodes ~= part.total then return nil end
	want.partition = partition
	want.exclusive = want.alone or record.max_share == 0
	local all, least = places(part, want)
	local why, code = no_place(part, want, all)
	if why == nil then why, code = too_many_nodes(part, want) end
	if why == nil then why, code = no_such_gpus(part, want) end
	if why == nil then why, code = too_dear(t, part, want, all, least) end
	return why, code
end

local function default_partition(part_list)
	for name, record in pairs(part_list) do
		if record.flag_default == 1 then return name end
	end
	return nil
end

local function want_of(t, job)
	local want = {
		nodes = number_of(job.min_nodes), minutes = minutes_of(job), alone = job.shared == 0,
		features = text_of(job.features), comment = text_of(job.comment),
		account = text_of(job.account) or text_of(job.default_account), user = text_of(job.user_name),
		qos = text_of(job.qos) or text_of(job.default_qos), wckey = text_of(job.wckey),
		gpus = { node = gpus_of(text_of(job.tres_per_node)), job = gpus_of(text_of(job.tres_per_job)) },
	}
	for _, name in ipairs({ "account", "user", "qos", "wckey" }) do
		want[name] = want[name] and want[name]:lower()
	end
	want.constraint = constraint_of(t, want.features)
	want.groups, want.most = wishes_of(t, want.comment)
	return want
end

local TEXTS = {
	"partition", "features", "comment", "account", "default_account", "user_name", "qos", "default_qos", "wckey", "tres_per_node",
	"tres_per_job",
}

local function is_long(job)
	for _, name in ipairs(TEXTS) do
		if #(text_of(job[name]) or "") > TEXT_MAX then return true end
	end
	return false
end

-- Of several partitions each must be impossible.  A job in a reservation has the nodes, and perhaps the partition, of that.
local function judge(t, job, part_list)
	if text_of(job.reservation) or is_long(job) then return nil end
	local names = text_of(job.partition) or default_partition(part_list)
	if names == nil then return nil end
	local list = words(names)
	if #list > NAMES_MAX then return nil end
	local want, first, first_code = want_of(t, job), nil, nil
	for _, name in ipairs(list) do
		local why, code = judge_in(t, want, name, part_list[name])
		if why == nil then return nil end
		if first == nil then first, first_code = why, code end
	end
	return first, first_code
end

-- --- slurmctld's calls -------------------------------------------------------------------------

local said, said_s -- what was wrong when it was said last, and when

local function say(now, what, text)
	if said == what and now < said_s + SAY_S and now >= said_s then return end
	said, said_s = what, now
	slurm.log_info("%s", "job_submit.lua: burstd refuses no job at its submission: " .. text)
end

local function check(job, part_list)
	local now = os.time()
	local t, wrong, text = load_table(now)
	if t == nil then
		say(now, wrong, text)
		return slurm.SUCCESS
	end
	said = nil
	local why, code = judge(t, job, part_list)
	if why == nil then return slurm.SUCCESS end
	slurm.log_user("%s", "burstd: " .. why)
	return code or slurm.ERROR
end

-- The site's own functions.
local site_submit, site_modify
do
	local here = debug.getinfo(1, "S").source:match("^@(.*/)") or ""
	local path = BURST_SUBMIT_SITE or here .. "job_submit_site.lua"
	local file = io.open(path, "r")
	if file ~= nil then
		file:close()
		slurm_job_submit, slurm_job_modify = nil, nil
		dofile(path) -- an error in it is one of this file: slurmctld stays with the last that worked
		site_submit, site_modify = slurm_job_submit, slurm_job_modify
	end
end

function slurm_job_submit(job, part_list, uid)
	if site_submit ~= nil then
		local rc = site_submit(job, part_list, uid)
		if rc ~= slurm.SUCCESS then return rc end
	end
	local ok, rc = pcall(check, job, part_list)
	if ok then return rc end
	say(os.time(), "error", tostring(rc))
	return slurm.SUCCESS
end

-- What a job becomes later is burstd's to judge, when slurmctld asks for its nodes.
function slurm_job_modify(job, record, part_list, uid)
	if site_modify ~= nil then return site_modify(job, record, part_list, uid) end
	return slurm.SUCCESS
end

return slurm.SUCCESS
