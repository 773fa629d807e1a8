import { expect, test } from "vitest";
import { base32, stepOf, stepOfCode, totp, totpUri } from "#server/features/security/totp.ts";

const secret = Buffer.from("12345678901234567890");

// RFC 6238, appendix B, the last six of its eight digits.
test.each([
  [59, "287082"],
  [1_111_111_109, "081804"],
  [1_111_111_111, "050471"],
  [1_234_567_890, "005924"],
  [2_000_000_000, "279037"],
  [20_000_000_000, "353130"],
])("at second %d the code is %s", (seconds, code) => {
  expect(totp(secret, stepOf(new Date(seconds * 1000)))).toBe(code);
});

test("a code is good one step before and after its own, and no longer", () => {
  const at = (seconds: number) => stepOfCode(secret, "081804", new Date(seconds * 1000));
  const step = stepOf(new Date(1_111_111_109_000));
  const begin = step * 30;
  expect([at(begin - 31), at(begin - 1), at(begin), at(begin + 59), at(begin + 60)]).toEqual([undefined, step, step, step, undefined]);
});

test("a secret is written as authenticator apps take it", () => {
  expect(base32(secret)).toBe("GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ");
  expect(base32(Buffer.from("f"))).toBe("MY");
  expect(totpUri("GEZD", "ada@example.com", "Treadle (example.com)")).toBe(
    "otpauth://totp/Treadle%20(example.com):ada%40example.com?secret=GEZD&issuer=Treadle%20(example.com)&digits=6&period=30",
  );
});
