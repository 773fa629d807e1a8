import { success, treadle } from "./client.ts";

for (let page = 1, seen = 0; ; page++) {
  const list = success(await treadle.GET("/workflows", { params: { query: { page, per_page: 100 } } }));
  for (const { id, name } of list.items) console.log(id, name);
  seen += list.items.length;
  if (seen >= list.total || list.items.length === 0) break;
}
