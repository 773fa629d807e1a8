import { expect, test } from "vitest";
import { bypassTest, proxyServerOf } from "#server/shared/proxy-address.ts";

test.each([
  ["http://proxy.company:3128", { isTls: false, host: "proxy.company", port: 3128, shown: "http://proxy.company:3128" }],
  ["https://proxy.company:8443/", { isTls: true, host: "proxy.company", port: 8443, shown: "https://proxy.company:8443" }],
  ["proxy.company:3128", { isTls: false, host: "proxy.company", port: 3128, shown: "http://proxy.company:3128" }],
  ["http://proxy.company", { isTls: false, host: "proxy.company", port: 1080, shown: "http://proxy.company:1080" }],
  ["http://proxy.company:80", { isTls: false, host: "proxy.company", port: 80, shown: "http://proxy.company:80" }],
  ["https://proxy.company", { isTls: true, host: "proxy.company", port: 443, shown: "https://proxy.company:443" }],
  ["http://[::1]:3128", { isTls: false, host: "::1", port: 3128, shown: "http://[::1]:3128" }],
])("reads the proxy %s", (text, server) => {
  expect(proxyServerOf(text)).toEqual({ ...server, credentials: undefined });
});

test.each([
  ["http://ada:secret@proxy:3128", "ada:secret"],
  ["http://ada%40corp:p%3Aa%2Fs%25@proxy:3128", "ada@corp:p:a/s%"],
  ["http://ada:gr%C3%B6%C3%9Fe@proxy:3128", "ada:größe"],
  ["http://token@proxy:3128", "token:"],
])("decodes the credentials of %s", (text, credentials) => {
  const server = proxyServerOf(text);

  expect(server?.credentials).toBe(credentials);
  expect(server?.shown).toBe("http://proxy:3128");
});

test.each([
  "socks5://proxy:1080",
  "ftp://proxy",
  "http://",
  "",
  "http://proxy:3128/file.pac",
  "http://proxy:99999",
  "http://a:%zz@proxy:3128",
])("refuses the proxy %s", (text) => {
  expect(proxyServerOf(text)).toBeUndefined();
});

test.each([
  ["", "example.com", false],
  ["*", "example.com", true],
  ["*", "10.0.0.1", true],
  [" * ", "example.com", true],
  ["*,a.test", "example.com", false],
  ["example.com", "example.com", true],
  ["example.com", "www.example.com", true],
  ["example.com", "EXAMPLE.COM", true],
  ["Example.Com", "www.example.com", true],
  ["example.com", "badexample.com", false],
  ["example.com", "example.com.evil.test", false],
  [".example.com", "example.com", true],
  [".example.com", "www.example.com", true],
  [".example.com", "badexample.com", false],
  ["example.com.", "www.example.com", true],
  ["example.com", "www.example.com.", true],
  ["www.example.com", "example.com", false],
  ["a.test,b.test", "b.test", true],
  ["a.test b.test", "b.test", true],
  [" a.test ,, b.test ", "b.test", true],
  ["example.com:8080", "example.com", false],
  ["*.example.com", "www.example.com", false],
  [".", "example.com", false],
  ["localhost", "localhost", true],
  ["127.0.0.1", "127.0.0.1", true],
  ["127.0.0.1", "127.0.0.10", false],
  ["0.0.1", "127.0.0.1", false],
  ["10.0.0.0/8", "10.200.3.4", true],
  ["10.1.2.3/8", "10.200.3.4", true],
  ["10.0.0.0/8", "11.0.0.1", false],
  ["10.0.0.0/8", "10.example.com", false],
  ["192.168.4.0/22", "192.168.7.255", true],
  ["192.168.4.0/22", "192.168.8.0", false],
  ["10.0.0.1/32", "10.0.0.1", true],
  ["10.0.0.0/33", "10.0.0.0", false],
  ["::1", "::1", true],
  ["0:0:0:0:0:0:0:1", "::1", true],
  ["2001:db8::/32", "2001:db8:1::7", true],
  ["2001:db8::/32", "2001:db9::1", false],
  ["fd00::/8", "10.0.0.1", false],
  ["10.0.0.0/8", "fd00::1", false],
])("with NO_PROXY=%s calls %s directly: %s", (list, host, isDirect) => {
  expect(bypassTest(list)(host)).toBe(isDirect);
});
