import { join } from "#e2e/api/people.ts";
import { expect, newPerson, test } from "#e2e/fixtures.ts";

test("removing an admin lists the service accounts they created, to keep or end", async ({ signedInPage: page, person, baseURL }) => {
  const guest = await newPerson(baseURL);
  const { body: invited } = await person.api.post(`/projects/${person.project.id}/members`, { email: guest.email, role: "admin" });
  await join(guest.browser, invited.invite_url);
  const headers = { "x-project-id": person.project.id };
  await guest.browser.post("/api/v1/service-accounts", {
    headers,
    data: { name: "Nightly report", role: "editor" },
    failOnStatusCode: true,
  });
  await person.api.post("/service-accounts", { name: "Own program", role: "viewer" }, { status: 201 });

  await page.goto("/settings/members");
  const row = page.getByRole("table", { name: "Members", exact: true }).getByRole("row", { name: new RegExp(guest.email) });
  await row.getByRole("button", { name: /^Actions of/ }).click();
  await page.getByRole("menuitem", { name: "Remove" }).click();
  const dialog = page.getByRole("alertdialog");
  await expect(dialog.getByRole("listitem")).toHaveText(["Nightly report"]);
  await expect(dialog.getByRole("radio", { name: /^Keep/ })).toBeChecked();
  await test.step("each choice is 44 pixels high on touch", async () => {
    const browser = await page.context().newCDPSession(page);
    await browser.send("Emulation.setTouchEmulationEnabled", { enabled: true });
    const choices = await dialog.locator("label").all();
    const heights = await Promise.all(choices.map(async (choice) => (await choice.boundingBox())?.height));
    await browser.send("Emulation.setTouchEmulationEnabled", { enabled: false });
    expect(heights).toEqual([44, 44]);
  });
  await dialog.getByRole("radio", { name: /^End/ }).check();
  await dialog.getByRole("button", { name: "Remove" }).click();
  await expect(dialog).toHaveCount(0);
  await expect(row).toHaveCount(0);

  const { body: left } = await person.api.get("/service-accounts");
  expect(left.items.map(({ name }: { name: string }) => name)).toEqual(["Own program"]);
});
