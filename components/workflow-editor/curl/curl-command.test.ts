import { expect, test } from "vitest";
import { type CurlCall, readCurl } from "#components/workflow-editor/curl/curl-command.ts";
import { wordsOf } from "#components/workflow-editor/curl/shell-words.ts";

function read(text: string, names?: string[]): CurlCall {
  const call = readCurl(text, names);
  if ("fault" in call) throw new Error(call.fault);
  return call;
}
const config = (text: string) => read(text).config;

test.each<[string, string[]]>([
  [`curl -d 'it''s' "a \\"b\\" \\$c \\d"`, ["curl", "-d", "its", 'a "b" $c \\d']],
  ["curl $'a\\n\\t\\'\\u00e9\\xc3\\xa9\\101' x\\ y", ["curl", "a\n\t'ééA", "x y"]],
  ["curl \\\n  -X POST \\  \n  http://h/?a=1&b=2 # why", ["curl", "-X", "POST", "http://h/?a=1&b=2"]],
  ['curl ^"http://h/?a=1^&b=2^" ^\r\n  -d ^"^{^\\^"a^\\^":^\\^"50^%^\\^"^}^"', ["curl", "http://h/?a=1&b=2", "-d", '{"a":"50%"}']],
  ['curl "http://h" ^\n -d "{""a"":1}" ^\n -d "a\\\\b"', ["curl", "http://h", "-d", '{"a":1}', "-d", "a\\b"]],
  ['curl ^"a^\n\nb^" -d ""', ["curl", "a\nb", "-d", ""]],
])("the words of %j", (text, words) => {
  expect(wordsOf(text)).toEqual({ words, rest: "" });
});

test.each([
  ["curl http://h | jq .", "| jq ."],
  ["curl http://h 2>&1 && echo", ">&1 && echo"],
  ["curl http://h; ls", "; ls"],
  ["curl http://h\ncurl http://g", "curl http://g"],
])("what follows the command is told apart: %j", (text, rest) => {
  expect(wordsOf(text)).toEqual({ words: ["curl", "http://h"], rest });
});

test.each([`curl 'http://h`, `curl "http://h`, `curl $'h`, `curl ^"h`])("a quote that is not closed is said: %j", (text) => {
  expect(readCurl(text)).toEqual({ fault: "A quote in the command is not closed. Was all of it copied?" });
});

test("what is a command of curl", () => {
  for (const text of ["curl http://h", " $ curl -I h", "curl.exe -k h", "CURL h"]) expect(readCurl(text), text).toHaveProperty("config");
  for (const text of ["https://curl.se", "curly h", "wget h", ""])
    expect(readCurl(text)).toEqual({ fault: "Paste a command that begins with curl." });
  expect(readCurl("curl -sS")).toEqual({ fault: "The command has no address." });
});

test("address, query, method and headers", () => {
  expect(
    config(
      `curl -sSLX PUT 'https://h.example/p?q=a%20b&tag=x+y#top' -H 'Accept: text/plain' -H 'Host: other' -H 'X-Empty;' -H 'User-Agent:' -A me`,
    ),
  ).toEqual({
    method: "PUT",
    url: "https://h.example/p",
    query: [
      { name: "q", value: "a b" },
      { name: "tag", value: "x y" },
    ],
    headers: [
      { name: "Accept", value: "text/plain" },
      { name: "X-Empty", value: "" },
      { name: "User-Agent", value: "me" },
    ],
    auth: { kind: "none", credential: "" },
    body_type: "none",
    body: "",
  });
  expect(config("curl -I example.com/a")).toMatchObject({ method: "HEAD", url: "http://example.com/a" });
  expect(config("curl --url https://h/?flag -m 7.2 --retry 9")).toMatchObject({
    url: "https://h/?flag",
    query: [],
    timeout: 8,
    retries: 5,
  });
  expect(config("curl https://h -G -d a=1 --data-urlencode 'b=x & y' --data-urlencode '=z'")).toMatchObject({
    method: "GET",
    url: "https://h?a=1&b=x+%26+y&z",
    body_type: "none",
  });
  expect(config("curl https://h?a=1 -G -d b=2").query).toEqual([
    { name: "a", value: "1" },
    { name: "b", value: "2" },
  ]);
});

test.each<[string, object]>([
  [`curl h -d '{"a": 1}'`, { method: "POST", body_type: "json", body: '{"a": 1}', headers: [] }],
  [`curl h --json '{"a": 1}'`, { body_type: "json", headers: [{ name: "Accept", value: "application/json" }] }],
  [`curl h -H 'content-type: application/json; charset=utf-8' -d '[1]'`, { body_type: "json", headers: [] }],
  [
    `curl h -H 'Content-Type: application/ld+json' -d '[1]'`,
    { body_type: "json", headers: [{ name: "Content-Type", value: "application/ld+json" }] },
  ],
  [
    `curl h -d a=1 -d 'b=x+y%21'`,
    {
      body_type: "form",
      body: [
        { name: "a", value: "1" },
        { name: "b", value: "x y!" },
      ],
      headers: [],
    },
  ],
  [
    `curl h --data-raw '<a/>' -H 'Content-Type: text/xml'`,
    { body_type: "text", body: "<a/>", headers: [{ name: "Content-Type", value: "text/xml" }] },
  ],
  [`curl h -d 100%`, { body_type: "text", body: "100%", headers: [{ name: "Content-Type", value: "application/x-www-form-urlencoded" }] }],
  [`curl h -X POST -d ''`, { method: "POST", body_type: "none" }],
  [`curl h -F a=1 -F 'f=@x.png'`, { method: "POST", body_type: "form", body: [{ name: "a", value: "1" }] }],
])("the body of %s", (text, expected) => {
  expect(config(text)).toMatchObject(expected);
});

test("secrets stand in the fields by the names of credentials only", () => {
  const secret = "s3cr3t-value";
  const bearer = read(`curl https://api.github.com/user -H 'authorization: Bearer ${secret}'`);
  expect(bearer.config).toMatchObject({ auth: { kind: "bearer", credential: "GITHUB_TOKEN" }, headers: [] });
  expect(bearer.secrets).toEqual([{ name: "GITHUB_TOKEN", value: secret, what: "Bearer token" }]);
  expect(read(`curl h -u ada:${secret}`).config.auth).toEqual({ kind: "basic", username: "ada", credential: "PASSWORD" });
  expect(read(`curl http://ada:${secret}@host.example`).config).toMatchObject({
    url: "http://host.example",
    auth: { kind: "basic", username: "ada" },
  });
  expect(read(`curl h -H 'Authorization: Basic ${btoa(`ada:${secret}`)}'`).secrets).toMatchObject([{ value: secret }]);
  expect(read(`curl h -H 'Authorization: Bot ${secret}'`).config.headers).toEqual([
    { name: "Authorization", value: "Bot {{credentials.TOKEN}}" },
  ]);
  expect(read(`curl h -H 'X-API-Key: ${secret}'`).config.auth).toEqual({ kind: "header", header: "X-API-Key", credential: "API_KEY" });
  expect(read(`curl https://api.stripe.com/v1 -u ${secret}:`)).toMatchObject({
    config: { auth: { kind: "none" }, headers: [{ name: "Authorization", value: "Basic {{credentials.STRIPE_BASIC}}" }] },
    secrets: [{ value: btoa(`${secret}:`) }],
  });
  const many = read(`curl 'https://h/?api_key=${secret}&page_token=p' -b 'id=${secret}x' -d client_secret=${secret} -d name=a`, ["MINE"]);
  expect(many.config).toMatchObject({
    query: [{ value: "{{credentials.MINE}}" }, { value: "p" }],
    headers: [{ name: "Cookie", value: "{{credentials.COOKIE}}" }],
    body: [{ value: "{{credentials.MINE}}" }, { value: "a" }],
  });
  for (const call of [bearer, many]) expect(JSON.stringify(call.config)).not.toContain(secret);
  expect(read("curl h -H 'Idempotency-Key: a'").secrets).toEqual([]);
  expect(read(`curl h -d '{"user": "a", "password" : "${secret}", "keys": ["b"], "note": "\\"token\\": \\"c\\""}'`).config.body).toBe(
    '{"user": "a", "password" : "{{credentials.PASSWORD}}", "keys": ["b"], "note": "\\"token\\": \\"c\\""}',
  );
});

test("a variable, or what stands for a value in an example, is a credential that is still to be given", () => {
  expect(read('curl h -H "Authorization: Bearer $GITHUB_PAT"')).toMatchObject({
    config: { auth: { kind: "bearer", credential: "GITHUB_PAT" } },
    secrets: [{ name: "GITHUB_PAT", value: null }],
  });
  expect(read("curl h -H 'X-Api-Key: <your key>'").secrets).toMatchObject([{ name: "API_KEY", value: null }]);
  expect(read('curl "https://h/$ID"').notes[0]).toContain("The shell puts values");
});

test("what a node cannot do is said", () => {
  const { config: made, notes } = read("curl -k -x p:1 --digest -X OPTIONS -d @body.json -F a=b https://h https://g | jq .");
  expect(made.method).toBe("POST");
  expect(notes.join(" ")).toMatch(/certificate.*proxy.*signing in.*body\.json.*jq.*first of 2.*multipart.*OPTIONS/s);
  expect(readCurl(`curl h -H 'a: ${"x".repeat(30_000)}'`)).toMatchObject({ fault: expect.stringContaining("headers.0.value") });
  expect(readCurl(`curl ${"x".repeat(400_000)}`)).toHaveProperty("fault");
});
