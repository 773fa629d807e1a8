import { expect, test } from "vitest";
import { sameOriginPath } from "#server/platform/auth/request-origin.ts";

const site = "http://localhost:4000";

test.each([
  "//evil.example",
  "/\t/evil.example",
  "/\n/evil.example",
  "\t//evil.example",
  "/\\evil.example",
  "\\\\evil.example",
  "https://evil.example/",
  "javascript:alert(1)",
  "java\nscript:alert(1)",
  "data:text/html,x",
  "http://localhost:4000@evil.example/",
  "http://localhost:4001/",
  "",
  undefined,
])("%j leads nowhere but home", (address) => {
  expect(sameOriginPath(address, site)).toBe("/");
  expect(sameOriginPath(address)).toBe("/");
});

test.each(["http:evil.example", "/.//evil.example", "/..//evil.example", "/x/../..//evil.example"])("%j stays on this site", (address) => {
  expect(new URL(sameOriginPath(address, site), site).origin).toBe(site);
});

test("a path of this site is kept whole", () => {
  expect(sameOriginPath("/runs/1?tab=log#top", site)).toBe("/runs/1?tab=log#top");
  expect(sameOriginPath(`${site}/runs/1`, site)).toBe("/runs/1");
});
