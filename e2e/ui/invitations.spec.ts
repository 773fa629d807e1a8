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

test("an existing account accepts an invitation only while signed in to it", async ({ signedInPage: page, pageOf, baseURL, person }) => {
  const dialog = page.getByRole("dialog");
  const members = page.getByRole("table", { name: "Members", exact: true });
  const invited = page.getByRole("table", { name: "Invited" });
  const guest = await newPerson(baseURL);
  await page.goto("/settings/members");
  await expect(members).toBeVisible(); // read once the page takes clicks
  const link = await invite(page, guest.email);
  await dialog.getByRole("button", { name: "Done" }).click();
  await expect(invited.getByRole("row", { name: guest.email })).toContainText(`Invited by ${person.email}`);

  const other = await newPerson(baseURL);
  const theirs = await pageOf({ browser: other.browser });
  await test.step("signed in as another account, the page offers to sign out", async () => {
    await theirs.goto(link);
    await expect(theirs.getByText(`You are signed in as ${other.email}`)).toBeVisible();
    await expect(theirs.getByRole("button", { name: "Join project" })).toHaveCount(0);
    await theirs.getByRole("button", { name: "Sign out" }).click();
    await expect(theirs.getByRole("link", { name: "Sign in to accept" })).toBeVisible();
    await expect(theirs).toHaveURL(new RegExp(`${link}$`));
  });

  await test.step("signed out, the page leads to the sign-in, which returns to the invitation", async () => {
    await theirs.getByRole("link", { name: "Sign in to accept" }).click();
    await theirs.getByLabel("E-mail").fill(guest.email);
    await theirs.getByLabel("Password").fill(guest.password);
    await theirs.getByRole("button", { name: "Sign in" }).click();
    await expect(theirs).toHaveURL(new RegExp(`${link}$`));
  });

  await test.step("signed in as the account, one button joins", async () => {
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
    await expect(leaving).toContainText("Make someone else an admin first");
    await expect(leaving).toContainText(person.project.name);
    await leaving.getByRole("button", { name: "Close" }).last().click();
    await expect(leaving).toHaveCount(0);
  });
});

test("a verified account is asked in the app", async ({ signedInPage: page, pageOf, person }) => {
  const members = page.getByRole("table", { name: "Members", exact: true });
  await page.goto("/settings/members");
  await expect(members).toBeVisible();
  const owner = { email: process.env.OWNER_EMAIL ?? "", password: process.env.OWNER_PASSWORD ?? "" };
  await invite(page, owner.email);

  await nobodysPage(await pageOf());
  const theirs = await pageOf(await signIn(owner));
  await theirs.goto("/");
  const question = theirs.getByRole("region", { name: "Invitation" });
  await expect(question).toContainText(`Robin Weaver (${person.email}) invites you to ${person.project.name} as editor.`);
  await question.getByRole("button", { name: "Decline" }).click();
  await expect(question).toHaveCount(0);

  await page.reload();
  await expect(members).toBeVisible();
  await expect(page.getByRole("table", { name: "Invited" })).toHaveCount(0);
});

/** The page with nobody signed in, away from the studio: it notices by itself that a session has gone, and leads to the sign-in. */
async function nobodysPage(page: Page): Promise<Page> {
  await page.goto("about:blank");
  await page.context().clearCookies();
  return page;
}
