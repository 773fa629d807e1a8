import { expect, test } from "#e2e/fixtures.ts";
import { provenAddress } from "#server/features/security/proven-address.ts";
import { db } from "#server/platform/db/client.ts";

test("projects from before the proof are left or taken over on one page", async ({ signedInPage: page, person, api }) => {
  await api.post("/projects", { name: "Unknown" }, { status: 201 });
  const { browser } = person;
  const { auth } = (await (await browser.get("/api/v1/auth/me")).json()) as { auth: object };
  expect(auth).toMatchObject({ type: "session" });
  const [session] = await db().session.findMany({ where: { user_id: person.id, ended_at: null }, select: { id: true } });
  await db().$transaction((tx) => provenAddress(tx, person.id, { by: "mailed_invitation", kept_session: session?.id }));

  await page.goto("/");
  await page.getByRole("region", { name: "Put aside" }).getByRole("link", { name: "Review" }).click();
  const table = page.getByRole("table", { name: "Put aside" });
  await expect(table.getByRole("row")).toHaveCount(3);
  await expect(page.getByRole("region", { name: "Put aside" }).getByRole("link", { name: "Review" })).toHaveCount(0);
  await expect(page.getByText("Ended when your address was verified: 1 API key.")).toBeVisible();

  await test.step("leaving deletes a project without other members", async () => {
    await table.getByRole("button", { name: "Leave Unknown" }).click();
    const dialog = page.getByRole("alertdialog", { name: "Leave Unknown?" });
    await expect(dialog).toContainText("It will be deleted with everything in it");
    await dialog.getByRole("button", { name: "Leave and delete" }).click();
    await expect(table.getByRole("row")).toHaveCount(2);
  });

  await test.step("taking over opens the project", async () => {
    await table.getByRole("button", { name: `Take over ${person.project.name}` }).click();
    const dialog = page.getByRole("alertdialog", { name: `Take over ${person.project.name}?` });
    await expect(dialog).toContainText("All other members will be removed");
    await dialog.getByRole("button", { name: "Take over" }).click();
    await expect(page.getByRole("navigation", { name: "Main" })).toBeVisible();
    await expect(page.getByRole("region", { name: "Put aside" })).toHaveCount(0);
  });

  const { projects } = (await (await browser.get("/api/v1/users/me")).json()) as { projects: { id: string }[] };
  expect(projects.map(({ id }) => id)).toContain(person.project.id);
});
