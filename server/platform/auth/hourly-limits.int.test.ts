import { afterEach, expect, test } from "vitest";
import { createProject } from "#server/features/projects/service.ts";
import { setMember } from "#server/features/projects/set-member.ts";
import { countNewAccount, mayMail } from "#server/platform/auth/limits.ts";
import { setSettings } from "#server/platform/settings.ts";
import { testDatabase } from "#server/testing/test-database.ts";

const database = testDatabase();
afterEach(() => setSettings({ ACCOUNTS_PER_HOUR: "", INVITATIONS_PER_HOUR: "", PROJECTS_PER_USER: "" }));

test("accounts, invitations and projects have an end, which the operator sets", async () => {
  setSettings({ ACCOUNTS_PER_HOUR: "2", INVITATIONS_PER_HOUR: "2", PROJECTS_PER_USER: "3" });
  for (const address of ["2001:db8::1", "2001:db8::2"]) await countNewAccount(address);
  await expect(countNewAccount("2001:db8::3")).rejects.toMatchObject({ code: "RATE_LIMIT_EXCEEDED" });
  await countNewAccount("2001:db8:0:1::1");

  const ada = await database.newAdmin();
  const invite = (email: string) => setMember(ada, { project_id: ada.project.id, email, role: "viewer" });
  await invite("one@example.com");
  await invite("one@example.com"); // again is one more
  await expect(invite("two@example.com")).rejects.toMatchObject({ code: "RATE_LIMIT_EXCEEDED" });

  for (const name of ["Two", "Three"]) await createProject(ada, { name });
  await expect(createProject(ada, { name: "Four" })).rejects.toMatchObject({
    code: "CONFLICT",
    message: expect.stringMatching(/PROJECTS_PER_USER/),
  });
  setSettings({ ACCOUNTS_PER_HOUR: "0", INVITATIONS_PER_HOUR: "0", PROJECTS_PER_USER: "0" });
  await Promise.all([countNewAccount("2001:db8::3"), invite("two@example.com"), createProject(ada, { name: "Four" })]);
});

test("however many projects invite an address, few mails go to it", async () => {
  const sent = [];
  for (let n = 0; n < 8; n++) sent.push(await mayMail("invitation", n % 2 ? "victim@example.com" : "Victim@example.com"));
  expect(sent).toEqual([true, true, true, true, true, false, false, false]);
});
