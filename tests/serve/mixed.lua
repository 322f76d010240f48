-- Requests for wrk: every kind of route, quick and slow, and some that are refused. Prints how many
-- replies of each status came.
--     wrk -t2 -c200 -d30s --timeout 30s -s tests/serve/mixed.lua http://127.0.0.1:8017/
local function post(path, body, kind)
    return wrk.format("POST", path, { ["Content-Type"] = kind or "application/json" }, body)
end

local requests, n = {}, 0

function init()
    local paths = {
        "/", "/api/v1/info", "/api/v1/study", "/api/v1/examples/wind.csv", "/nothing", "/api/v1/jobs/0",
        "/api/v1/universe?depth=2&start=100&count=20", "/api/v1/universe?depth=2&contains=sin(x1)&count=5",
        "/api/v1/pair?depth=2&split=test&index=11",
    }
    for _, path in ipairs(paths) do table.insert(requests, wrk.format("GET", path)) end
    local csv = "a,T\\n1,1\\n2,2.8284\\n3,5.19615\\n4,8\\n"
    table.insert(requests, post("/api/v1/formula", '{"text": "m*v^2/2", "names": ["m", "v"]}'))
    table.insert(requests, post("/api/v1/table", "a,T\n1,1\n2,2.8\n3,5.2\n", "text/csv"))
    table.insert(requests, post("/api/v1/fitted", '{"csv": "' .. csv .. '", "formula": "a^(3/2)"}'))
    table.insert(requests, post("/api/v1/discover", '{"csv": "' .. csv .. '", "options": {"effort": "low"}}'))
end

function request()
    n = n + 1
    return requests[n % #requests + 1]
end

local threads, seen = {}, {}

function setup(thread) table.insert(threads, thread) end

function response(status)
    seen[status] = (seen[status] or 0) + 1
    counts = ""
    for code, times in pairs(seen) do counts = counts .. code .. ": " .. times .. "  " end
end

function done()
    for i, thread in ipairs(threads) do print("thread " .. i .. "  " .. (thread:get("counts") or "")) end
end
