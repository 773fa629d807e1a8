import { expect, test } from "vitest";
import { budgetOf, plainAddress } from "#server/platform/net/client-address.ts";

test.each([
  ["203.0.113.7", "203.0.113.7"],
  ["203.0.113.7:4711", "203.0.113.7"],
  [" 203.0.113.7 ", "203.0.113.7"],
  ["::ffff:203.0.113.7", "203.0.113.7"],
  ["0:0:0:0:0:FFFF:203.0.113.7", "203.0.113.7"],
  ["[2001:DB8::1]:443", "2001:db8::1"],
  ["[2001:db8::1]", "2001:db8::1"],
  ["fe80::1%eth0", "fe80::1"],
  ["unknown", undefined],
  ["_hidden", undefined],
  ["999.1.1.1", undefined],
  ["", undefined],
  [undefined, undefined],
])("%j is the address %j", (text, address) => expect(plainAddress(text)).toBe(address));

test.each([
  ["203.0.113.7", "203.0.113.7"],
  ["2001:db8:0:1::1", "2001:db8:0:1::/64"],
  ["2001:0db8:0000:0001:ffff:ffff:ffff:ffff", "2001:db8:0:1::/64"],
  ["2001:db8::1", "2001:db8:0:0::/64"],
  ["::1", "0:0:0:0::/64"],
  ["1:2:3::8", "1:2:3:0::/64"],
  ["1::4:5:6:7:8", "1:0:0:4::/64"],
  ["64:ff9b::192.0.2.1", "64:ff9b:0:0::/64"],
])("%s spends the budget of %s", (address, budget) => expect(budgetOf(address)).toBe(budget));
