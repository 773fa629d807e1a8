import type { Page } from "@playwright/test";
import { graphOf } from "#e2e/api/graphs.ts";
import { axeFaultsInBothThemes } from "#e2e/axe.ts";
import { expect, test } from "#e2e/fixtures.ts";
import { canvasLine } from "#e2e/ui/canvas-line.ts";
import { Canvas, type Widget, type WidgetData } from "#server/features/canvases/schema.ts";

const VALUE = {
  total: 120,
  months: [12, 30, 18].map((sum, index) => ({ name: ["Jan", "Feb", "Mar"][index], sum })),
  report: "**Good** month",
};
const giving = (value: object = VALUE) =>
  graphOf({ Start: ["trigger", { kind: "manual" }], Sales: ["output", { value: JSON.stringify(value), format: "json" }] }, ["Start>Sales"]);
const region = (page: Page, name: string) => page.getByRole("region", { name, exact: true });

/** Beside each other, four in a row. */
const widgetsOf = (workflow_id: string, kinds: Record<string, Pick<Widget, "type"> & { options?: object }>) =>
  Object.entries(kinds).map(([title, kind], index) => ({
    ...{ ...kind, id: title.toLowerCase().replaceAll(" ", "-"), title, workflow_id, output_label: "Sales" },
    layout: { x: (index % 4) * 3, y: Math.floor(index / 4) * 4, w: 3, h: 4 },
  }));

const bars = { type: "chart", options: { kind: "bar", x: "$.months[*].name", y: "$.months[*].sum" } } as const;
const number = { type: "number", options: { path: "$.total", unit: "€" } } as const;

test("nobody is kept out of any state of a canvas, and an editor makes a link, sees it once, and ends it", async ({
  signedInPage: page,
  api,
  workflow,
  executed,
}) => {
  test.setTimeout(120_000); // ten states are examined
  const flow = await workflow({ name: "Sales", ...giving() });
  const { id: run } = await executed(flow, {});
  const kinds = { Empty: number, Problem: number, Off: number, Failing: bars, Filling: number, Partly: number };
  const { body: canvas } = await api.post(
    "/canvases",
    { name: "States", widgets: widgetsOf(flow.id, kinds) },
    { schema: Canvas, status: 201 },
  );
  const line = await canvasLine(page, () => page.goto(`/canvases/${canvas.id}`));
  const since = "2026-11-01T08:00:00.000Z";
  const from = { execution_id: run, completed_at: since };
  const now = (widget_id: string, data: Omit<WidgetData, "widget_id">): WidgetData => ({ widget_id, ...data });
  const series = [{ name: "y", points: [{ ...from, x: "Jan", y: 12 }] }];
  const states = [
    now("empty", { status: "empty" }),
    now("problem", { status: "problem", problem: "The workflow has no Output “Sale”.", suggestion: "Sales" }),
    now("off", { status: "ok", value: 3, ...from, old: { reason: "disabled", since, execution_id: null } }),
    now("failing", { status: "ok", series, ...from, old: { reason: "failing", since, execution_id: run } }),
    now("filling", { status: "empty", filling: { done: 12, total: 400 } }),
    now("partly", { status: "ok", value: 3, ...from, problem: "2 values are no numbers and were left out." }),
  ];
  line.tell({ type: "canvas_data", canvas_id: canvas.id, widgets: states });
  await expect(region(page, "Failing").getByRole("link", { name: "Latest failure" })).toBeVisible();
  await expect(region(page, "Filling").getByRole("progressbar", { name: "Past runs read" })).toBeVisible();
  await region(page, "Failing").hover();
  await region(page, "Failing").getByRole("button", { name: "Show table" }).click();
  // Of a widget that somebody else adds nothing is known at first.
  await page.route("**/api/trpc/*canvases.data*", async (route) => {
    const response = await route.fetch();
    const answers = (await response.json()) as { result: { data: { generated_at?: string; widgets?: WidgetData[] } } }[];
    for (const { result } of answers) if (result.data.generated_at) result.data.widgets = states;
    await route.fulfill({ response, json: answers });
  });
  const [widget] = widgetsOf(flow.id, { Loading: bars });
  const added = { ...widget, layout: { x: 9, y: 4, w: 3, h: 4 } };
  const { body: saved } = await api.put(`/canvases/${canvas.id}`, { widgets: [...canvas.widgets, added] }, { schema: Canvas });
  line.tell({ type: "canvas_changed", canvas_id: canvas.id, updated_at: saved.updated_at });
  await expect(region(page, "Loading").getByRole("status")).toHaveText("Loading");
  await line.close();
  await expect(page.getByText("Reconnecting…")).toBeVisible();
  await expect(region(page, "Failing").getByRole("row", { name: "Jan 12" })).toBeVisible();
  await expect(region(page, "Problem").getByText("The workflow has no Output “Sale”.")).toBeVisible();
  expect(await axeFaultsInBothThemes(page)).toEqual([]);

  await region(page, "Off").getByRole("button", { name: "3 €" }).click();
  const trail = page.getByRole("dialog");
  await expect(trail.getByRole("link", { name: "Sales", exact: true })).toBeVisible();
  expect(await axeFaultsInBothThemes(page)).toEqual([]);
  await page.keyboard.press("Escape");

  await page.getByRole("button", { name: "Edit" }).click();
  await expect(region(page, "Problem").getByRole("button", { name: "Use “Sales”" })).toBeVisible();
  expect(await axeFaultsInBothThemes(page)).toEqual([]);
  const dialog = page.getByRole("dialog");
  await page.getByRole("button", { name: "Rename" }).click();
  await dialog.getByLabel("Name").fill("All states");
  await dialog.getByRole("button", { name: "Rename" }).click();
  await expect(page.getByRole("heading", { level: 1 })).toContainText("All states");
  await page.getByRole("button", { name: "Add widget" }).click();
  await expect(dialog.getByRole("button", { name: /Sales/ })).toBeVisible();
  expect(await axeFaultsInBothThemes(page, "[role=dialog]")).toEqual([]);
  await dialog.getByRole("button", { name: /Sales/ }).click();
  await expect(dialog.getByRole("button", { name: /^Add / }).first()).toBeVisible();
  expect(await axeFaultsInBothThemes(page, "[role=dialog]")).toEqual([]);
  await dialog
    .getByRole("button", { name: /^Change it/ })
    .first()
    .click();
  await expect(dialog.getByRole("button", { name: "Add to the canvas" })).toBeVisible();
  expect(await axeFaultsInBothThemes(page, "[role=dialog]")).toEqual([]);
  await page.keyboard.press("Escape");
  await page.getByRole("button", { name: "Done" }).click();

  await page.getByRole("button", { name: "Share" }).click();
  expect(await axeFaultsInBothThemes(page, "[role=dialog]")).toEqual([]);
  await dialog.getByRole("button", { name: "Make a link" }).click();
  await expect(dialog.getByRole("textbox", { name: "Link" })).toHaveValue(/\/shared\/[\w-]{43}$/);
  expect(await axeFaultsInBothThemes(page, "[role=dialog]")).toEqual([]);
  await dialog.getByRole("button", { name: "Done" }).click();
  await page.getByRole("button", { name: "Share" }).click();
  await expect(dialog.getByText("There is a link")).toBeVisible();
  await expect(dialog.getByRole("button", { name: "Replace the link" })).toBeVisible();
  expect(await axeFaultsInBothThemes(page, "[role=dialog]")).toEqual([]);
  await dialog.getByRole("button", { name: "End the link" }).click();
  await expect(dialog).toHaveCount(0);
  expect((await api.get(`/canvases/${canvas.id}`, { schema: Canvas })).body.share).toBeNull();
});

test("a widget is downloaded as a picture in the colours of its theme, or why not is said; on a wall a canvas is as high as the screen", async ({
  signedInPage: page,
  api,
  workflow,
  executed,
}) => {
  const flow = await workflow({ name: "Sales", ...giving() });
  await executed(flow, {});
  const kinds = { "Sums of 2026": bars, Total: number, Report: { type: "markdown", options: { path: "$.report" } } } as const;
  const { body: canvas } = await api.post(
    "/canvases",
    { name: "Shop", widgets: widgetsOf(flow.id, kinds) },
    { schema: Canvas, status: 201 },
  );
  const refused: string[] = [];
  page.on("console", (message) => /Content Security Policy/.test(message.text()) && refused.push(message.text()));
  await page.goto(`/canvases/${canvas.id}`);
  const ask = async (name: string) => {
    await region(page, name)
      .getByRole("button", { name: `Actions of ${name}` })
      .click();
    await page.getByRole("menuitem", { name: "Download as PNG" }).click();
  };
  /** The picture's size, the brightness of its corner, and how many colours there are in it. */
  const looked = async (name: string) => {
    const download = page.waitForEvent("download");
    await ask(name);
    const file = await download;
    const chunks: Buffer[] = [];
    for await (const chunk of await file.createReadStream()) chunks.push(chunk as Buffer);
    const seen = await page.evaluate(async (base64) => {
      const bytes = Uint8Array.from(atob(base64), (character) => character.charCodeAt(0));
      const image = await createImageBitmap(new Blob([bytes], { type: "image/png" }));
      const pen = new OffscreenCanvas(image.width, image.height).getContext("2d");
      pen?.drawImage(image, 0, 0);
      const { data } = pen?.getImageData(0, 0, image.width, image.height) ?? { data: new Uint8ClampedArray() };
      const at = (x: number, y: number) => data[4 * (y * image.width + x)] ?? 0;
      const line = image.height - 40;
      const caption = Array.from({ length: image.width }, (_, x) => at(x, line));
      return {
        width: image.width,
        brightness: at(Math.round(image.width / 2), 8),
        colours: new Set(new Uint32Array(data.buffer)).size,
        captionContrast: Math.max(...caption.slice(30, -30)) - Math.min(...caption.slice(30, -30)),
      };
    }, Buffer.concat(chunks).toString("base64"));
    return { name: file.suggestedFilename(), ...seen };
  };
  const box = await region(page, "Sums of 2026").boundingBox();
  const light = await looked("Sums of 2026");
  expect(light).toMatchObject({ name: "sums-of-2026.png", width: Math.round(box?.width ?? 0) * 2 });
  expect(light.brightness).toBeGreaterThan(220);
  expect(light.colours).toBeGreaterThan(50);
  expect(light.captionContrast).toBeGreaterThan(100);
  await page.emulateMedia({ colorScheme: "dark" });
  const dark = await looked("Report");
  expect(dark.brightness).toBeLessThan(60);
  expect(dark.captionContrast).toBeGreaterThan(100);
  expect(refused).toEqual([]);

  await page.evaluate(() => {
    HTMLCanvasElement.prototype.toBlob = (give) => give(null);
  });
  await ask("Report");
  await expect(page.getByText("No picture was made")).toBeVisible();
  await expect(page.getByText("Print the canvas, or download the widget as CSV.")).toBeVisible();

  await test.step("on a wall it is as high as the screen, however few rows it has", async () => {
    await page.setViewportSize({ width: 2560, height: 1440 });
    const foot = async () => {
      const box = await region(page, "Sums of 2026").boundingBox();
      return (box?.y ?? 0) + (box?.height ?? 0);
    };
    await expect.poll(foot).toBeLessThan(600);
    await page.getByRole("button", { name: "Full screen" }).click();
    await expect.poll(foot).toBeGreaterThan(1300);
    expect(await page.evaluate(() => document.documentElement.scrollHeight - innerHeight)).toBeLessThanOrEqual(0);
    await page.getByRole("button", { name: "Leave full screen" }).click();
    await expect.poll(foot).toBeLessThan(600);
  });
});

test("on paper a canvas is whole: every row, on pages that are wide, and none that is empty", async ({
  signedInPage: page,
  api,
  workflow,
  executed,
}) => {
  const rows = Array.from({ length: 40 }, (_, index) => ({ name: `Customer ${index}`, sum: index }));
  const flow = await workflow({ name: "Sales", ...giving({ rows }) });
  await executed(flow, {});
  const kinds = {
    Customers: { type: "table", options: { path: "$.rows" } },
    Sums: { type: "chart", options: { kind: "pie", x: "$.rows[*].name", y: "$.rows[*].sum" } },
  } as const;
  const { body: canvas } = await api.post(
    "/canvases",
    { name: "Paper", widgets: widgetsOf(flow.id, kinds) },
    { schema: Canvas, status: 201 },
  );
  const { body: link } = await api.post(`/canvases/${canvas.id}/share`, {}, { status: 201 });
  for (const path of [`/canvases/${canvas.id}`, new URL(link.url).pathname]) {
    await page.goto(path);
    await expect(region(page, "Customers").getByRole("row", { name: "Customer 39" })).toBeAttached();
    await page.emulateMedia({ media: "print" });
    const last = await region(page, "Customers").getByRole("row", { name: "Customer 39" }).boundingBox();
    const foot = await region(page, "Customers").locator("footer").boundingBox();
    expect(foot?.y).toBeGreaterThanOrEqual((last?.y ?? 0) + (last?.height ?? 0) - 1);
    const pdf = (await page.pdf({ preferCSSPageSize: true })).toString("latin1");
    const sizes = [...pdf.matchAll(/\/MediaBox \[0 0 (\d+)[.\d]* (\d+)/g)].map(([, width, height]) => `${width} ${height}`);
    expect(new Set(sizes)).toEqual(new Set(["841 594"]));
    expect(sizes.length).toBeLessThan(5);
    await page.emulateMedia({ media: null });
  }
});
