import { axeFaultsInBothThemes } from "#e2e/axe.ts";
import { startKnowledgeServer } from "#e2e/fakes/knowledge-server.ts";
import { expect, test } from "#e2e/fixtures.ts";
import { chooseOf } from "#e2e/ui/locators.ts";
import { pdfFile } from "#server/testing/office-files.ts";

test("a source is created, filled with a text, a file and pages, of which one cannot be had, searched, and deleted", {
  tag: "@main",
}, async ({ signedInPage: page, api }) => {
  const web = await startKnowledgeServer();
  await page.goto("/knowledge");
  await expect(page.getByRole("heading", { name: "Give your agents something to read" })).toBeVisible();
  await page.getByRole("button", { name: "New source" }).click();
  const dialog = page.getByRole("dialog", { name: "New knowledge source" });
  await dialog.getByRole("textbox", { name: "Name", exact: true }).fill("Handbook");
  expect(await axeFaultsInBothThemes(page, "[role=dialog]")).toEqual([]);
  await dialog.getByRole("button", { name: "Create source" }).click();
  await expect(page.getByRole("heading", { name: "Handbook", level: 1 })).toBeVisible();
  await expect(page.getByRole("heading", { name: "No documents yet" })).toBeVisible();

  await page.getByRole("button", { name: "Add text" }).click();
  const text = page.getByRole("dialog", { name: "Add text" });
  await text.getByLabel("Text", { exact: true }).fill("# House\n\n## Quiet hours\n\nNobody plays the drums after ten.");
  await text.getByRole("button", { name: "Add text" }).click();
  await expect(text.getByText("Give it a title.")).toBeVisible();
  await text.getByLabel("Title").fill("House rules");
  await text.getByRole("button", { name: "Add text" }).click();
  await expect(text).toBeHidden();

  const buffer = Buffer.from(pdfFile(["First page.", "The boiler stands in the cellar."]));
  const files = [
    { name: "boiler.pdf", mimeType: "application/pdf", buffer },
    { name: "picture.png", mimeType: "image/png", buffer: Buffer.from([0x89, 0x50, 0x4e, 0x47, 13, 10, 26, 10, 0]) },
  ];
  await page.getByLabel("Files to add").setInputFiles(files);
  await expect(page.getByText("1 file not added")).toBeVisible();

  const addPage = async (name: string) => {
    await page.getByRole("button", { name: "Add URL" }).click();
    const address = page.getByRole("dialog", { name: "Add URL" });
    await address.getByLabel("URL").fill(`${web.url}/pages/${name}`);
    await address.getByRole("button", { name: "Add URL" }).click();
    await expect(address).toBeHidden();
  };
  await addPage("changing");

  const documents = page.getByRole("table", { name: "Documents" });
  for (const name of ["House rules", "boiler.pdf", "Fruit"])
    await expect(documents.getByRole("row").filter({ hasText: name })).toContainText("Ready");
  await expect(documents.getByRole("row")).toHaveCount(4);
  await documents.getByRole("button", { name: "boiler.pdf", exact: true }).click();
  await expect(page.getByRole("dialog", { name: "boiler.pdf" })).toContainText("The boiler stands in the cellar.");
  await page.keyboard.press("Escape");

  const search = page.getByRole("region", { name: "Try a search" });
  await expect(documents.getByRole("button", { name: "boiler.pdf", exact: true })).toBeFocused();
  await search.getByRole("textbox", { name: "Question" }).fill("Who may play the drums?");
  await page.keyboard.press("Enter");
  const first = search.getByRole("listitem").first();
  await expect(first).toContainText("House rules");
  await expect(first).toContainText("House › Quiet hours");
  await expect(first).toContainText("Nobody plays the drums after ten.");
  expect(await axeFaultsInBothThemes(page)).toEqual([]);

  await chooseOf(page, "House rules", "Delete");
  await page.getByRole("alertdialog").getByRole("button", { name: "Delete document" }).click();
  await expect(documents.getByRole("row")).toHaveCount(3);
  await search.getByRole("button", { name: "Search" }).click();
  await expect(search.getByText("Nothing fits.")).toBeVisible();

  // A page that cannot be had says why, and is fetched again on request.
  await addPage("nothing");
  const failed = documents.getByRole("row").filter({ hasText: "/pages/nothing" });
  await expect(failed).toContainText("Failed");
  await expect(failed).toContainText("404");
  const asked = page.waitForResponse((response) => response.url().includes("reindexDocument"));
  await failed.getByRole("button", { name: /^Actions of/ }).click();
  await page.getByRole("menuitem", { name: "Try again" }).click();
  expect((await asked).status()).toBe(200);
  await expect(failed).toContainText("Failed");

  await page.getByRole("link", { name: "Knowledge" }).first().click();
  await expect(page.getByRole("row", { name: /Handbook/ })).toContainText("3 documents");
  await page.getByRole("link", { name: "Handbook" }).click();
  await page.getByRole("button", { name: "More", exact: true }).click();
  await page.getByRole("menuitem", { name: "Delete source" }).click();
  await page.getByRole("alertdialog").getByRole("button", { name: "Delete source" }).click();
  await expect(page).toHaveURL(/\/knowledge$/);
  await expect(page.getByRole("heading", { name: "Give your agents something to read" })).toBeVisible();
  expect((await api.get("/rags")).body.total).toBe(0);
  await web.stop();
});

test("a text file is read again in the encoding that a user chooses", async ({ signedInPage: page, api }) => {
  const { id } = (await api.post("/rags", { name: "Archive", type: "documents" }, { status: 201 })).body;
  await page.goto(`/knowledge/${id}`);
  const greeting = { name: "greeting.txt", mimeType: "text/plain", buffer: Buffer.from("8fe0a8a2a5e2", "hex") };
  await page.getByLabel("Files to add").setInputFiles([greeting]);
  const documents = page.getByRole("table", { name: "Documents" });
  await expect(documents.getByRole("row").filter({ hasText: "greeting.txt" })).toContainText("Ready");
  await documents.getByRole("button", { name: "greeting.txt", exact: true }).click();
  const dialog = page.getByRole("dialog", { name: "greeting.txt" });

  await dialog.getByRole("combobox", { name: "Text encoding" }).click();
  await page.getByRole("option", { name: "Cyrillic, DOS (ibm866)" }).click();

  await expect(dialog.getByRole("region", { name: "Text of the document" })).toHaveText("Привет");
  expect(await axeFaultsInBothThemes(page, "[role=dialog]")).toEqual([]);
});
