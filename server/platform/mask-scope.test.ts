import { afterEach, expect, it, vi } from "vitest";
import { cutResult } from "#server/llm/tools/tool.ts";
import { log } from "#server/platform/log.ts";
import { masked, withMask } from "#server/platform/mask-scope.ts";
import { maskerOf } from "#server/platform/masking/masker.ts";

const SECRET = 'sesame-"42"/é';
const masker = maskerOf([SECRET]);
const mask = (text: string) => masker.text(text);
const level = log.level;

afterEach(() => {
  log.level = level;
  vi.restoreAllMocks();
});

it("masks for the work at hand alone, however long that waits", async () => {
  expect(masked(SECRET)).toBe(SECRET);
  const [inside, beside] = await Promise.all([
    withMask(mask, async () => {
      await new Promise((resolve) => setImmediate(resolve));
      return masked(`<${SECRET}>`);
    }),
    new Promise((resolve) => setImmediate(() => resolve(masked(SECRET)))),
  ]);
  expect(inside).toBe("<••••>");
  expect(beside).toBe(SECRET);
});

it("keeps what is cut from holding half a secret", () => {
  const text = `12345${SECRET} and much more`;
  expect(withMask(mask, () => cutResult(text, 12))).toMatch(/^12345•••• an\n\[cut here/);
  expect(cutResult(text, 12)).toContain("sesame");
});

it("keeps a log line whole but for the secret, wherever it stands", () => {
  const lines: string[] = [];
  vi.spyOn(process.stderr, "write").mockImplementation((line) => Boolean(lines.push(String(line))));
  log.level = "warn";
  const error = Object.assign(new Error(`refused ${SECRET}`), { input: `https://x.example/?q=${encodeURIComponent(SECRET)}` });
  withMask(mask, () => log.error({ err: error, list: [SECRET] }, `it was ${SECRET}`));
  log.error("no secret");
  const [first, second] = lines.map((line) => JSON.parse(line));
  expect(first).toMatchObject({ msg: "it was ••••", list: ["••••"], err: { message: "refused ••••", input: "https://x.example/?q=••••" } });
  expect(JSON.stringify(first)).not.toContain("sesame");
  expect(second).toMatchObject({ msg: "no secret" });
});
