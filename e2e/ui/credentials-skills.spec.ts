import { graphOf } from "#e2e/api/graphs.ts";
import { expect, test } from "#e2e/fixtures.ts";
import { chooseOf } from "#e2e/ui/locators.ts";

const SECRET = "tok_5f3b0c9d8e7a";

test("what agents are given in a project, a credential and a skill, is made, changed and deleted", async ({
  signedInPage: page,
  api,
  workflow,
}) => {
  const dialog = page.getByRole("dialog");
  await test.step("a credential: how to use it, a name that cannot be, adding, a new value, and deleting only when nothing reads it", async () => {
    await page.goto("/settings/api-keys");
    await page.getByRole("link", { name: "Credentials" }).click();
    await expect(page.getByRole("heading", { name: "Keep secrets out of your workflows" })).toBeVisible();
    await expect(page.getByText("{{credentials.NAME}}")).toBeVisible();

    await page.getByRole("button", { name: "Add credential" }).click();
    await dialog.getByLabel("Name").fill("GITHUB-TOKEN");
    await dialog.getByRole("textbox", { name: "Value" }).fill(SECRET);
    await dialog.getByRole("button", { name: "Add credential" }).click();
    await expect(dialog.getByRole("alert")).toContainText("letters, digits and underscores");
    await dialog.getByLabel("Name").fill("GITHUB_TOKEN");
    await expect(dialog.getByText("{{credentials.GITHUB_TOKEN}}")).toBeVisible();
    await expect(dialog.getByRole("textbox", { name: "Value" })).toHaveCSS("-webkit-text-security", "disc");
    await dialog.getByRole("button", { name: "Show value" }).click();
    await expect(dialog.getByRole("textbox", { name: "Value" })).toHaveCSS("-webkit-text-security", "none");
    await dialog.getByRole("button", { name: "Add credential" }).click();
    await expect(dialog).toBeHidden();
    const row = page.getByRole("row", { name: /GITHUB_TOKEN/ });
    await expect(row).toContainText("{{credentials.GITHUB_TOKEN}}");
    await page.reload();
    await expect(row).toBeVisible();
    expect(await page.content()).not.toContain(SECRET);

    // The clipboard is the whole machine's, and a browser in a test may not write to it.
    const copied = await page.evaluateHandle(() => {
      const texts: string[] = [];
      navigator.clipboard.writeText = async (text) => void texts.push(text);
      return texts;
    });
    await chooseOf(page, "GITHUB_TOKEN", "Copy expression");
    await expect(page.getByText("The expression is copied")).toBeVisible();
    expect(await copied.jsonValue()).toEqual(["{{credentials.GITHUB_TOKEN}}"]);
    await chooseOf(page, "GITHUB_TOKEN", "Replace value");
    await dialog.getByRole("textbox", { name: "Value" }).fill("line one\nline two");
    await dialog.getByRole("button", { name: "Replace value" }).click();
    await expect(page.getByText("GITHUB_TOKEN has a new value")).toBeVisible();

    const template = { value: "{{credentials.GITHUB_TOKEN}}" };
    const graph = graphOf({ Start: ["trigger", { kind: "manual" }], Result: ["output", template] }, ["Start>Result"]);
    const { id } = await workflow({ name: "Nightly sync", ...graph });
    await chooseOf(page, "GITHUB_TOKEN", "Delete");
    const question = page.getByRole("alertdialog");
    await question.getByRole("button", { name: "Delete credential" }).click();
    await expect(question.getByRole("alert")).toContainText('"Nightly sync"');
    await question.getByRole("button", { name: "Cancel" }).click();
    await expect(row).toBeVisible();
    await api.del(`/workflows/${id}`, { status: 204 });
    await chooseOf(page, "GITHUB_TOKEN", "Delete");
    await question.getByRole("button", { name: "Delete credential" }).click();
    await expect(page.getByRole("heading", { name: "Keep secrets out of your workflows" })).toBeVisible();
  });

  await test.step("a built-in skill is read, made into an own version, changed and deleted", async () => {
    await page.getByRole("navigation", { name: "Main" }).getByRole("link", { name: "Skills" }).click();
    await expect(page.getByRole("heading", { name: "No skill of your own yet" })).toBeVisible();
    await page.getByRole("region", { name: "Built-in" }).getByRole("button", { name: "Summarize" }).click();
    await expect(dialog.getByRole("group", { name: "Prompt" })).toContainText("Use only what the text says.");
    await expect(dialog.getByRole("button", { name: "Edit" })).toHaveCount(0);
    await dialog.getByRole("button", { name: "Make own version" }).click();
    await expect(dialog.getByLabel("Prompt")).toHaveValue(/Use only what the text says\./);
    await dialog.getByLabel("Name").fill("Summarize");
    await dialog.getByRole("button", { name: "Create skill" }).click();
    await expect(dialog.getByRole("alert").filter({ hasText: "built-in skill" })).toBeVisible();
    await dialog.getByLabel("Name").fill("Summarize in Danish");
    // With something typed, Escape throws nothing away.
    await page.keyboard.press("Escape");
    await expect(dialog.getByLabel("Name")).toHaveValue("Summarize in Danish");
    await dialog.getByRole("button", { name: "Create skill" }).click();
    await expect(dialog).toBeHidden();

    const own = page.getByRole("region", { name: "This project" });
    await own.getByRole("button", { name: "Summarize in Danish" }).click();
    await dialog.getByRole("button", { name: "Edit" }).click();
    await dialog.getByLabel("Prompt").fill("Sammenfat teksten.");
    await dialog.getByRole("button", { name: "Save skill" }).click();
    await expect(dialog).toBeHidden();
    await page.reload();
    await own.getByRole("button", { name: "Summarize in Danish" }).click();
    await expect(dialog.getByRole("group", { name: "Prompt" })).toHaveText("Sammenfat teksten.");
    await dialog.getByRole("button", { name: "Delete" }).click();
    await page.getByRole("alertdialog").getByRole("button", { name: "Delete skill" }).click();
    await expect(page.getByRole("heading", { name: "No skill of your own yet" })).toBeVisible();
  });
});
