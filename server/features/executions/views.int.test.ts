import { expect, test } from "vitest";
import { MOST_VIEWS } from "#server/features/executions/schema.ts";
import { deleteView, listViews, saveView } from "#server/features/executions/views.ts";
import { addMember } from "#server/testing/add-member.ts";
import { testDatabase } from "#server/testing/test-database.ts";

const database = testDatabase();

test("views are one person's in one project, a name keeps the latest, and they are bounded", async () => {
  const ada = await database.newAdmin();
  const other = await database.newAdmin();
  await addMember(ada, other.user, "editor");
  const colleague = { ...other, project: ada.project };
  const { id } = await saveView(ada, { name: "Failed", query: "status=failed" });
  expect((await saveView(ada, { name: "Failed", query: "status=failed&since=1d" })).id).toBe(id);
  await saveView(ada, { name: "All", query: "" });
  expect((await listViews(ada)).map(({ name, query }) => [name, query])).toEqual([
    ["All", ""],
    ["Failed", "status=failed&since=1d"],
  ]);
  expect(await listViews(colleague)).toEqual([]);
  await expect(deleteView(colleague, { view_id: id })).rejects.toMatchObject({ code: "NOT_FOUND" });
  await deleteView(ada, { view_id: id });
  for (let n = 1; n < MOST_VIEWS; n++) await saveView(ada, { name: `View ${n}`, query: "" });
  await expect(saveView(ada, { name: "One more", query: "" })).rejects.toMatchObject({ code: "CONFLICT" });
  await saveView(ada, { name: "All", query: "q=x" });
});
