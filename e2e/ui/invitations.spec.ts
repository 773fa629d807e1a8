import type { Page } from "@playwright/test";
import { signIn } from "#e2e/api/people.ts";
import { expect, newPerson, test } from "#e2e/fixtures.ts";

/** Invites from the settings' members, where the page is. */
async function invite(page: Page, email: string): Promise<string> {
  await page.getByRole("button", { name: "Invite" }).click();
  await page.getByLabel("E-mail").fill(email);
  await page.getByRole("dialog").getByRole("button", { name: "Invite" }).click();
  return new URL(await page.getByRole("textbox", { name: "Invitation link" }).inputValue()).pathname;
}

test("an account that exists is invited: signed in it joins, by a new password it opens one project, a verified one may say no", async ({
  signedInPage: page,
  pageOf,
  baseURL,
  person,
}) => {
  const dialog = page.getByRole("dialog");
  const members = page.getByRole("table", { name: "Members", exact: true });
  const invited = page.getByRole("table", { name: "Invited" });
  await page.goto("/settings/members");
  await expect(members).toBeVisible(); // read once the page takes clicks

  await test.step("whoever invites is told that an account is not verified; who is signed in with it joins with all they have", async () => {
    const guest = await newPerson(baseURL);
    const link = await invite(page, guest.email);
    await expect(dialog.getByText("This address is not verified")).toBeVisible();
    await expect(dialog).toContainText(/made on \d+ \w+ \d{4} through sign-up/);
    await dialog.getByRole("button", { name: "Done" }).click();
    await expect(invited.getByRole("row", { name: guest.email })).toContainText("Not verified, made on");

    const theirs = await pageOf({ browser: guest.browser });
    await theirs.goto(link);
    await theirs.getByRole("button", { name: "Join project" }).click();
    await expect(theirs.getByRole("navigation", { name: "Main" })).toBeVisible();
    const { body: profile } = await guest.api.get("/users/me");
    expect(profile.projects.map(({ id }: { id: string }) => id)).toEqual([guest.project.id, person.project.id]);
    await page.reload();
    await expect(members).toContainText(guest.email);
    await expect(invited).toHaveCount(0);
  });

  await test.step("the last admin of others is told whom it concerns before anything is asked", async () => {
    await page.getByRole("navigation", { name: "Settings" }).getByRole("link", { name: "Profile" }).click();
    await page.getByRole("button", { name: "Delete account" }).click();
    const leaving = page.getByRole("dialog", { name: "Delete your account?" });
    await expect(leaving).toContainText("Somebody else has to be admin first");
    await expect(leaving).toContainText(person.project.name);
    await leaving.getByRole("button", { name: "Close" }).last().click();
    await expect(leaving).toHaveCount(0);
    await page.getByRole("navigation", { name: "Settings" }).getByRole("link", { name: "Members" }).click();
    await expect(members).toBeVisible();
  });

  await test.step("a new password by the link opens one project; the earlier one opens the others again", async () => {
    const guest = await newPerson(baseURL);
    const link = await invite(page, guest.email);
    await dialog.getByRole("button", { name: "Done" }).click();
    const theirs = await nobodysPage(await pageOf());
    await theirs.goto(link);
    await theirs.getByRole("button", { name: "Set a new password" }).click();
    await theirs.getByLabel("Your name").fill("Robin again");
    await theirs.getByLabel("New password").fill("a password of my own");
    await theirs.getByRole("button", { name: "Join project" }).click();
    await expect(theirs.getByRole("navigation", { name: "Main" })).toBeVisible();
    expect((await guest.browser.get("/api/v1/auth/me")).status()).toBe(401);
    await theirs.goto("/settings/profile");
    const before = theirs.getByRole("region", { name: "Projects from before" });
    await before.getByLabel("Earlier password").fill(guest.password);
    await before.getByRole("button", { name: "Open them again" }).click();
    await expect(before).toHaveCount(0);
    const { projects } = await (await theirs.request.get("/api/v1/users/me")).json();
    expect(projects).toHaveLength(2);
  });

  await test.step("a verified account is asked in the app, and may say no", async () => {
    const owner = { email: process.env.OWNER_EMAIL ?? "", password: process.env.OWNER_PASSWORD ?? "" };
    await invite(page, owner.email);
    await expect(dialog).toContainText("is asked in the app");
    await nobodysPage(await pageOf());
    const theirs = await pageOf(await signIn(owner));
    await theirs.goto("/");
    const question = theirs.getByRole("region", { name: "Invitation" });
    await expect(question).toContainText(`Robin Weaver (${person.email}) invites you to ${person.project.name} as editor.`);
    await question.getByRole("button", { name: "Decline" }).click();
    await expect(question).toHaveCount(0);
    await page.reload();
    await expect(members).toBeVisible();
    await expect(invited).toHaveCount(0);
  });
});

/** The page with nobody signed in, away from the studio: it notices by itself that a session has gone, and leads to the sign-in. */
async function nobodysPage(page: Page): Promise<Page> {
  await page.goto("about:blank");
  await page.context().clearCookies();
  return page;
}
