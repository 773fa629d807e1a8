import type { Page } from "@playwright/test";

// Where things are in the editor, by the names that stay fixed.

export const canvas = (page: Page) => page.getByRole("region", { name: "Workflow canvas" });
/** A node by its accessible name, e.g. "Agent Research". */
export const node = (page: Page, name: string) => canvas(page).getByRole("group", { name, exact: true });
