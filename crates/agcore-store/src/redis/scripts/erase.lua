-- Erases the items of a user. Returns their number.
-- Arguments: the name of the tenant, the user, the range in the index of users.

local name, user = argument(), argument()
local from, to = argument(), argument()
local keys = tenant(0)
local wrong = wrong_type(keys)
if wrong then
  return wrong
end
local members = redis.call('ZRANGEBYLEX', keys.owners, from, to)
for _, member in ipairs(members) do
  remove(keys, string.sub(member, #user + 2))
  redis.call('ZREM', keys.owners, member)
end
forget_if_empty(keys, name)
return #members
