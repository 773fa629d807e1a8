import { expect, test } from "vitest";
import { askRemote, refusalOf } from "#server/features/knowledge/sources/remote-hit.ts";
import { withMask } from "#server/platform/mask-scope.ts";
import { setAbsentProxy } from "#server/testing/proxy-server.ts";

test("what a service echoes where its words are cut holds no part of a secret, of the source or of the run", () => {
  const [own, ofRun] = ["key-9d1f4b7a2c", "tok-7f3a9b2c5d"];
  for (let before = 170; before <= 210; before++) {
    const message = `${"x".repeat(before)}${own} ${"y".repeat(before)}${ofRun} was not taken`;
    for (const said of [message, message.replace(own, "").trim(), `${"y".repeat(before)}${ofRun}`]) {
      const refusal = withMask(
        (text) => text.replaceAll(ofRun, "••••"),
        () => refusalOf("The service", 400, { error: said }, [own]),
      );
      expect(refusal.message).toMatch(/^The service answered 400: (xxx|yyy)/);
      expect(refusal.message).not.toMatch(/key|tok/);
    }
  }
});

test("names the proxy when it cannot be reached", async () => {
  setAbsentProxy();
  const request = { reach: "public", what: "Qdrant", url: new URL("https://qdrant.example/"), method: "GET", headers: {} } as const;

  await expect(askRemote(request)).rejects.toMatchObject({
    code: "UPSTREAM_ERROR",
    message: "The proxy at http://127.0.0.1:1 does not accept connections. Check OUTGOING_PROXY, and that the proxy runs.",
  });
});
