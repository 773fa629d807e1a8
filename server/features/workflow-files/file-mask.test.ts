import { expect, test } from "vitest";
import { listTemplates } from "#server/features/workflow-files/list-templates.ts";
import { FileMask, withoutForeign } from "#server/features/workflow-files/secrets.ts";
import { maskerOf } from "#server/platform/masking/masker.ts";
import { finished } from "#server/platform/time-slice.ts";

// Put together here, so that no tool that looks for secrets takes this file for a leak.
const noise = (length: number) => "a1B2c3D4e5F6g7H8j9K0".repeat(10).slice(0, length);
const hex = (length: number) => "0a1b2c3d4e5f6789".repeat(10).slice(0, length);
const keys: Record<string, string> = {
  openai: `sk-${"proj"}-${noise(60)}`,
  anthropic: `sk-${"ant"}-api03-${noise(90)}`,
  groq: `gsk${"_"}${noise(52)}`,
  huggingFace: `hf${"_"}${"abcdefghijklmnopqrstuvwxyzabcdefgh"}`,
  aws: `AKI${"A"}IOSFODNN7ABCDEFG`,
  google: `AIz${"a"}${noise(35)}`,
  github: `gh${"p_"}${noise(36)}`,
  finegrained: `github${"_pat_"}${noise(60)}`,
  gitlab: `glpat${"-"}${noise(20)}`,
  slack: `xox${"b-"}123456789012-1234567890123-${noise(24)}`,
  slackHook: `https://hooks.slack.com/services/${"T0"}/${noise(44)}`,
  stripe: `sk${"_live_"}${noise(24)}`,
  sendgrid: `SG${"."}${noise(22)}.${noise(43)}`,
  twilio: `S${"K"}${hex(32)}`,
  npm: `npm${"_"}${noise(36)}`,
  telegram: `123456789:${"A"}${noise(34)}`,
  jwt: `eyJ${noise(20)}.eyJ${noise(30)}.${noise(20)}`,
  bearer: `Authorization: Bearer ${noise(32)}`,
  header: `x-api-key: ${noise(24)}`,
  json: `{"client_secret": "${noise(24)}"}`,
  url: `postgres://app:${noise(10)}@db`,
  pem: `-----BEGIN ${"PRIVATE"} KEY-----\n${noise(64)}\n-----END PRIVATE KEY-----`,
};

test.each(Object.entries(keys))("%s does not leave with a file", (_, key) => {
  const secret = key.match(/[A-Za-z0-9+_-]{10,}(?=\W*$)/)?.[0] ?? key;
  const { text, found } = withoutForeign(`Call it with ${key} and say so.`);
  expect(text).toContain("••••");
  expect(text).not.toContain(secret.slice(-10));
  expect(text).toMatch(/^Call it with [\s\S]*and say so\.$/);
  expect(found).toHaveLength(1);
});

test.each([
  "Use sk-learn-style-pipelines-for-everything, and a Bearer token in the header.",
  "Authorization: Bearer {{credentials.CRM_TOKEN}} and api_key={{credentials.KEY}}",
  "postgres://app:{{credentials.PW}}@db.example.com/app",
  "max_tokens: 4096, token_count: 123456789012, secret: none, password: required",
  "The commit 0a1b2c3d4e5f67890a1b2c3d4e5f67890a1b2c3d is on main; ask for id 0198e2d3-0000-7000-8000-000000000001.",
  'node_outputs["Token"] == "yes" and json.loads(output)["password"] != ""',
])("stays: %s", (text) => {
  expect(withoutForeign(text)).toEqual({ text, found: [] });
});

test("between two steps of masking a file little is looked at", () => {
  let characters = 0;
  const text = (one: string) => {
    characters += one.length;
    return one;
  };
  const mask = new FileMask({ ...maskerOf([]), text });
  const data = Object.fromEntries(Array.from({ length: 40 }, (_, index) => [`field${index}`, { inner: ["x".repeat(50_000), "y"] }]));
  let most = 0;
  for (const _ of mask.fields(data, { of: "node", name: "Long" })) {
    most = Math.max(most, characters);
    characters = 0;
  }
  expect(most).toBeLessThanOrEqual(50_000 + 10);
});

test("no text of a template looks like a secret", () => {
  for (const { file } of listTemplates().items) expect(withoutForeign(JSON.stringify(file)).found).toEqual([]);
});

test("a file's mask tells where it took what, each place once, and leaves all else as it was", () => {
  const mask = new FileMask(maskerOf(["hunter2-of-the-project"]));
  const data = {
    label: "Draft",
    input: `Ask ${keys.github} and ${keys.github}, never hunter2-of-the-project`,
    headers: { Authorization: noise(16), "x-api-key": "{{credentials.KEY}}", accept: "application/json" },
    password: "correcthorse",
    retries: 2,
    list: [{ api_token: "abcdefgh" }, null],
  };
  expect(finished(mask.fields(data, { of: "node", name: "Draft" }))).toEqual({
    ...data,
    input: "Ask •••• and ••••, never ••••",
    headers: { ...data.headers, Authorization: "••••" },
    password: "••••",
    list: [{ api_token: "••••" }, null],
  });
  const at = { of: "node", name: "Draft" } as const;
  expect(mask.found).toEqual([
    { ...at, field: "input", what: "secret of the project" },
    { ...at, field: "input", what: "GitHub token" },
    { ...at, field: "headers", what: "value with a secret's name" },
    { ...at, field: "password", what: "value with a secret's name" },
    { ...at, field: "list", what: "value with a secret's name" },
  ]);
});

test("a secret in a list of names and values is told by the name beside it", () => {
  const mask = new FileMask(maskerOf([]));
  const headers = [
    { name: "X-Api-Key", value: "correcthorse" },
    { name: "Authorization", value: "{{credentials.KEY}}" },
    { name: "Accept", value: "application/json" },
    { name: "password", value: 5 },
  ];
  expect(finished(mask.fields({ headers }, { of: "node", name: "Call" }))).toEqual({
    headers: [{ name: "X-Api-Key", value: "••••" }, ...headers.slice(1)],
  });
  expect(mask.found).toEqual([{ of: "node", name: "Call", field: "headers", what: "value with a secret's name" }]);
});

test("what is listed holds no secret either", () => {
  const mask = new FileMask(maskerOf([]));
  finished(mask.fields({ [keys.github ?? ""]: keys.slack }, { of: "node", name: `Node ${keys.stripe}` }));
  for (const key of Object.values(keys)) expect(JSON.stringify(mask.found)).not.toContain(key);
  expect(mask.found).toHaveLength(2);
});

test.each([
  ["at the beginning of a word", (token: string) => token],
  ["behind a dash", (token: string) => `id-${token}`],
  ["behind an underscore that follows letters", (token: string) => `key_ey_${token}`],
  ["behind a dot", (token: string) => `file.${token}`],
])("a signed token %s is masked", (_, place) => {
  const token = `eyJ${noise(20)}.eyJ${noise(30)}.${noise(20)}`;

  const { text, found } = withoutForeign(`<${place(token)}>`);

  expect(found).toContain("signed token");
  expect(text).not.toContain(token.slice(24));
});

test("many beginnings of signed tokens that end as none stay as they are", () => {
  const text = "-ey".repeat(100_000);

  expect(withoutForeign(text)).toEqual({ text, found: [] });
});
