import { createServer } from "node:http";
import { json } from "node:stream/consumers";
import { axeFaultsInBothThemes } from "#e2e/axe.ts";
import { type Listening, listen } from "#e2e/fakes/listen.ts";
import { MCP_TOKEN, startMcpServer } from "#e2e/fakes/mcp-server.ts";
import { expect, test } from "#e2e/fixtures.ts";

test("a server is looked at, connected, refreshed, changed and deleted", { tag: "@main" }, async ({ signedInPage: page, api }) => {
  const mcp = await startMcpServer();
  await page.goto("/mcp");
  await page.getByRole("button", { name: "Connect server" }).click();
  const dialog = page.getByRole("dialog", { name: "Connect MCP server" });
  await dialog.getByRole("textbox", { name: "Name", exact: true }).fill("Shelf");
  await dialog.getByRole("textbox", { name: "Address" }).fill(`${mcp.url}/locked/mcp`);

  await dialog.getByRole("button", { name: "Discover tools" }).click();
  await expect(dialog.getByRole("alert")).toContainText("answered 401");
  await dialog.getByRole("button", { name: "Add header" }).click();
  await dialog.getByLabel("Value of header Authorization").fill(`Bearer ${MCP_TOKEN}`);
  await dialog.getByRole("button", { name: "Discover tools" }).click();
  await expect(dialog.getByRole("region", { name: "Tools of the server" })).toContainText("Adds two numbers.");
  expect((await api.get("/mcp")).body.total).toBe(0);
  expect(await axeFaultsInBothThemes(page, "[role=dialog]")).toEqual([]);
  await dialog.getByRole("switch", { name: "Agents get slow" }).click();
  await dialog.getByRole("button", { name: "Connect", exact: true }).click();

  await expect(page.getByRole("heading", { name: "Shelf", level: 1 })).toBeVisible();
  const tools = page.getByRole("region", { name: "Tools" });
  await expect(tools.getByRole("switch", { name: "Agents get slow" })).not.toBeChecked();
  await tools.getByRole("switch", { name: "Agents get add" }).click();
  await expect.poll(async () => (await api.get("/mcp")).body.items[0].disabled_tools).toEqual(["slow", "add"]);

  expect(await axeFaultsInBothThemes(page)).toEqual([]);
  await page.getByRole("button", { name: "Refresh tools" }).click();
  await expect(page.getByText("8 tools listed")).toBeVisible();

  await page.getByRole("button", { name: "Settings" }).click();
  const settings = page.getByRole("dialog", { name: "Settings of the server" });
  await settings.getByRole("textbox", { name: "Name", exact: true }).fill("Cupboard");
  await settings.getByRole("button", { name: "Save" }).click();
  await expect(page.getByRole("heading", { name: "Cupboard", level: 1 })).toBeVisible();
  expect((await api.get("/mcp")).body.items[0].header_names).toEqual(["Authorization"]);

  await page.getByRole("button", { name: "More", exact: true }).click();
  await page.getByRole("menuitem", { name: "Delete server" }).click();
  await page.getByRole("alertdialog").getByRole("button", { name: "Delete server" }).click();
  await expect(page).toHaveURL(/\/mcp$/);
  await expect(page.getByRole("heading", { name: "Connect an MCP server" })).toBeVisible();
  await mcp.stop();
});

/** Serves MCP with a list of tools whose second page is malformed. */
const startBrokenList = (): Promise<Listening> =>
  listen(
    createServer(async (request, response) => {
      if (request.method !== "POST") return void response.writeHead(405).end();
      const { id, method, params } = Object(await json(request));
      if (id === undefined) return void response.writeHead(202).end();

      const initialized = { protocolVersion: "2025-06-18", capabilities: { tools: {} }, serverInfo: { name: "broken", version: "1" } };
      const page = params?.cursor === undefined ? { tools: [{ name: "first" }], nextCursor: "two" } : { tools: "none" };
      response.writeHead(200, { "content-type": "application/json" });
      response.end(JSON.stringify({ jsonrpc: "2.0", id, result: method === "initialize" ? initialized : page }));
    }),
  );

test("discovery says which tools are missing", async ({ signedInPage: page }) => {
  const broken = await startBrokenList();
  await page.goto("/mcp");
  await page.getByRole("button", { name: "Connect server" }).click();
  const dialog = page.getByRole("dialog", { name: "Connect MCP server" });
  await dialog.getByRole("textbox", { name: "Address" }).fill(`${broken.url}/mcp`);

  await dialog.getByRole("button", { name: "Discover tools" }).click();

  const tools = dialog.getByRole("region", { name: "Tools of the server" });
  await expect(tools).toContainText("1 tool");
  await expect(tools.getByRole("status")).toContainText("Page 2 of the list of tools is missing");
  await broken.stop();
});
