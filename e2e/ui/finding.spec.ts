import { axeFaultsInBothThemes } from "#e2e/axe.ts";
import { expect, test } from "#e2e/fixtures.ts";
import { chooseOf } from "#e2e/ui/locators.ts";
import { ListedWorkflow, Workflow, WorkflowPage } from "#server/features/workflows/schema.ts";

test("the palette finds objects, what stands in their nodes, things to do and the guide, by keys alone", { tag: "@main" }, async ({
  signedInPage: page,
  api,
  newProject,
}) => {
  const other = await newProject();
  await other.api.post("/workflows", { name: "Quarterly heron" }, { status: 201 });
  const nodes = [
    { id: "t", type: "triggerNode", position: { x: 0, y: 0 }, data: { label: "Start", kind: "manual" } },
    { id: "o", type: "outputNode", position: { x: 300, y: 0 }, data: { label: "Wetlands", value: "How many herons nest there?" } },
  ];
  const edges = [{ id: "e", source: "t", target: "o" }];
  const { body: birds } = await api.post("/workflows", { name: "Birds", nodes, edges }, { schema: Workflow, status: 201 });
  const { body: quarterly } = await api.post("/workflows", { name: "Quarterly heron" }, { schema: Workflow, status: 201 });

  await page.goto("/runs");
  const field = page.getByRole("combobox", { name: "Search, or say what to do" });
  const option = (name: RegExp) => page.getByRole("option", { name });
  await expect(page.getByRole("heading", { name: "Runs", level: 1 })).toBeVisible();
  await page.keyboard.press("ControlOrMeta+k");
  await expect(field).toBeFocused();
  await page.keyboard.type("heron");
  await expect(option(/heron/)).toHaveText([/^Quarterly heron$/, /^Birds/, /^Runs with “heron”$/]);
  await expect(option(/^Quarterly heron$/)).toHaveAttribute("aria-selected", "true");
  await expect(option(/^Birds Wetlands · How many herons nest there\?$/)).toBeVisible();
  await expect(option(/^Birds/).locator("mark")).toHaveText("heron");
  expect(await axeFaultsInBothThemes(page, "[role=dialog]")).toEqual([]); // modal
  await page.emulateMedia({ colorScheme: "light" });
  await page.keyboard.press("ArrowDown");
  await page.keyboard.press("Enter");
  // It leads to the very node.
  await expect(page).toHaveURL(new RegExp(`/workflows/${birds.id}`));
  await expect(page.getByRole("textbox", { name: "Name of the node" }).or(page.getByText("Wetlands").first())).toBeVisible();

  // In the editor it is the same one, and what was opened last stands first elsewhere.
  await page.keyboard.press("ControlOrMeta+k");
  await page.keyboard.type("quarterly");
  await page.keyboard.press("Enter");
  await expect(page).toHaveURL(new RegExp(`/workflows/${quarterly.id}`));
  await expect(page).toHaveTitle(/^Quarterly heron/);
  await page.keyboard.press("ControlOrMeta+k");
  await expect(page.getByRole("option").first()).toHaveText(/^Birds/);
  await page.keyboard.press("Escape");
  await expect(field).toHaveCount(0);

  await page.keyboard.press("ControlOrMeta+k");
  await page.keyboard.type("dark th");
  await expect(option(/^Dark theme$/)).toHaveAttribute("aria-selected", "true");
  await page.keyboard.press("Enter");
  await expect(page.locator("html")).toHaveAttribute("data-theme", "dark");
  await page.keyboard.press("ControlOrMeta+k");
  await field.fill("signature of a webhook");
  await expect(option(/^Triggers · Webhook/).first()).toBeVisible();
  await field.fill("light theme");
  await page.keyboard.press("Enter");
  await expect(page.locator("html")).toHaveAttribute("data-theme", "light");
});

test("on a phone the list's buttons stand beside its title, and the palette is behind a button", async ({ signedInPage: page, api }) => {
  await page.setViewportSize({ width: 390, height: 844 });
  await api.post("/workflows", { name: "Quarterly heron" }, { status: 201 });
  await page.goto("/workflows");
  const [title, create] = [page.getByRole("heading", { name: "Workflows", level: 1 }), page.getByRole("button", { name: "New workflow" })];
  await expect.poll(async () => (await title.boundingBox())?.y).toBeGreaterThan(((await create.boundingBox())?.y ?? 0) - 10);
  await page.getByRole("button", { name: "More", exact: true }).click();
  await expect(page.getByRole("menuitem", { name: "Templates" })).toBeVisible();
  await page.keyboard.press("Escape");
  expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(390);
  await page.getByRole("button", { name: "Search", exact: true }).click();
  await page.getByRole("combobox", { name: "Search, or say what to do" }).fill("heron");
  await page.getByRole("option", { name: /Quarterly heron/ }).click();
  await expect(page).toHaveURL(/\/workflows\/[0-9a-f-]{36}/);
});

test("workflows are searched, filed, tagged and changed many at a time", async ({ signedInPage: page, api }) => {
  const report = (n: number) => api.post("/workflows", { name: `Report ${n}` }, { status: 201 });
  for (const n of [1, 2, 10]) await report(n);
  const row = (name: string) => page.getByRole("row").filter({ has: page.getByRole("link", { name, exact: true }) });
  const select = (name: string) => page.getByRole("checkbox", { name: `Select ${name}`, exact: true }).click();
  const bar = page.getByRole("region", { name: "Selected workflows" });

  await page.goto("/workflows");
  await page.getByRole("searchbox", { name: "Search workflows" }).fill("report 1");
  await expect(row("Report 2")).toHaveCount(0);
  await select("Report 1");
  await select("Report 10");
  await expect(bar).toContainText("2 selected");
  await bar.getByRole("button", { name: "Move" }).click();
  const move = page.getByRole("dialog", { name: "Move 2 workflows" });
  await move.getByRole("combobox", { name: "Folder" }).fill("Marketing//Weekly");
  await move.getByRole("button", { name: "Move", exact: true }).click();
  await expect(move.getByRole("alert")).toContainText("Give names with a slash between them");
  await move.getByRole("combobox", { name: "Folder" }).fill("Marketing/Weekly");
  await move.getByRole("button", { name: "Move", exact: true }).click();
  await expect(move).toHaveCount(0);
  await bar.getByRole("button", { name: "Tags" }).click();
  const tags = page.getByRole("dialog", { name: "Tags of 2 workflows" });
  await tags.getByRole("combobox", { name: "Add a tag" }).fill("news, monthly");
  await tags.getByRole("button", { name: "Save" }).click();
  await expect(tags).toHaveCount(0);
  await expect(row("Report 10").getByRole("button", { name: "Only with tag monthly" })).toBeVisible();

  await expect(page.getByRole("columnheader", { name: "On", exact: true })).toBeVisible();
  const folders = page.getByRole("navigation", { name: "Folders" });
  await page.getByRole("searchbox", { name: "Search workflows" }).fill("");
  await folders.getByRole("button", { name: "Marketing 2" }).click();
  await expect(page.getByRole("row")).toHaveCount(3);
  await expect(page).toHaveURL(/folder=Marketing/);
  await folders.getByText("Weekly").hover();
  await chooseOf(page, "folder Marketing/Weekly", "Rename or move");
  const rename = page.getByRole("dialog", { name: "Rename or move “Marketing/Weekly”" });
  await rename.getByRole("combobox", { name: "Path" }).fill("Sales");
  await rename.getByRole("button", { name: "Save" }).click();
  await folders.getByRole("button", { name: "Sales 2" }).click();
  await row("Report 1").getByRole("button", { name: "Only with tag news" }).click();
  await expect(page.getByRole("combobox", { name: "Tag" })).toHaveText("news (2)");
  await page.getByRole("button", { name: "Clear filters" }).click();

  // Many more, all of them newer.
  for (let n = 1; n <= 52; n++) if (![1, 2, 10].includes(n)) await report(n);
  const { body: child } = await api.post("/workflows", { name: "Child" }, { schema: Workflow, status: 201 });
  const nodes = [
    { id: "t", type: "triggerNode", position: { x: 0, y: 0 }, data: { label: "Start", kind: "manual" } },
    { id: "w", type: "workflowNode", position: { x: 300, y: 0 }, data: { label: "Run it", workflow_id: child.id } },
  ];
  await api.post("/workflows", { name: "Parent", nodes, edges: [{ id: "e", source: "t", target: "w" }] }, { status: 201 });

  // The palette says that there are more than it lists, and leads to all of them; a page that is not there gives way to the last.
  await page.getByRole("navigation", { name: "Main" }).getByRole("link", { name: "Runs" }).click();
  await expect(page.getByRole("heading", { name: "Runs", level: 1 })).toBeVisible();
  await page
    .getByRole("button", { name: /^Search/ })
    .first()
    .click();
  await page.getByRole("combobox", { name: "Search, or say what to do" }).fill("report");
  await page.getByRole("option", { name: "All in Workflows with “report”" }).click();
  await expect(page.getByText("1–50 of 52")).toBeVisible();
  await page.goto("/workflows?page=9");
  await expect(page.getByText("51–54 of 54")).toBeVisible();
  await expect(row("Report 1").getByRole("button", { name: "Only with tag monthly" })).toBeVisible();
  expect(await axeFaultsInBothThemes(page)).toEqual([]); // folders, tags, pages, and a row of each
  await page.getByRole("navigation", { name: "Main" }).getByRole("link", { name: "Workflows" }).click();
  await expect(page.getByText("1–50 of 54")).toBeVisible();
  // The first one is on the second page; the search finds it all the same.
  await page.getByRole("searchbox", { name: "Search workflows" }).fill("report 1");
  await expect(row("Report 1")).toBeVisible();
  await expect(row("Report 2")).toHaveCount(0);
  await expect(row("Report 1").locator("mark").first()).toHaveText("Report");
  await page.getByRole("searchbox", { name: "Search workflows" }).fill("");
  await expect(page.getByText("1–50 of 54")).toBeVisible();

  // All that a filter gives, on every page of it.
  await folders.getByRole("button", { name: "In no folder 52" }).click();
  await expect(folders.getByRole("button", { name: "In no folder 52" })).toHaveAttribute("aria-current", "true");
  await page.getByRole("checkbox", { name: "Select all on this page" }).click();
  await expect(bar).toContainText("50 selected");
  await bar.getByRole("button", { name: "Select all 52" }).click();
  await bar.getByRole("button", { name: "Switch off" }).click();
  await expect(page.getByText("52 workflows switched off")).toBeVisible();
  expect((await api.get("/workflows?enabled=true", { schema: WorkflowPage })).body.total).toBe(2);

  await bar.getByRole("button", { name: "Clear the selection" }).click();
  await page.getByRole("button", { name: "Clear filters" }).click();
  await expect(page.getByRole("button", { name: "Clear filters" })).toHaveCount(0);
  await select("Child");
  await select("Report 52");
  await bar.getByRole("button", { name: "Delete" }).click();
  await page.getByRole("alertdialog", { name: "Delete 2 workflows?" }).getByRole("button", { name: "Delete 2 workflows" }).click();
  const summary = page.getByRole("dialog", { name: "1 workflow not deleted" });
  await expect(summary).toContainText("1 workflow was deleted.");
  await expect(summary).toContainText('The workflow is run by the workflow "Parent". Take it out there first.');
  await summary.getByRole("button", { name: "Close", exact: true }).first().click();
  await expect(row("Report 52")).toHaveCount(0);
  await expect(row("Child")).toBeVisible();
  const { body: left } = await api.get("/workflows?q=report&sort=name", { schema: WorkflowPage });
  expect([left.total, ListedWorkflow.array().parse(left.items)[0]?.name]).toEqual([51, "Report 1"]);
});
