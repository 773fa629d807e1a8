import { settle } from "#components/canvases/editing/arrange.ts";
import type { Widget } from "#server/features/canvases/schema.ts";

const same = (a: unknown, b: unknown): boolean => JSON.stringify(a) === JSON.stringify(b);

/**
 * Two people's widgets of one canvas put together: of each widget what either of them changed, of what both changed what I did.
 * What one deleted and the other changed stays.
 * @param base as both knew them
 */
export function mergeWidgets(base: readonly Widget[], mine: readonly Widget[], theirs: readonly Widget[]): Widget[] {
  const [known, own, other] = [base, mine, theirs].map((widgets) => new Map(widgets.map((widget) => [widget.id, widget]))) as [
    Map<string, Widget>,
    Map<string, Widget>,
    Map<string, Widget>,
  ]; // cast: three maps of three lists
  const ids = [...new Set([...theirs, ...mine].map(({ id }) => id))];
  const merged = ids.flatMap((id) => {
    const [was, now, there] = [known.get(id), own.get(id), other.get(id)];
    if (!now) return there && (!was || !same(was, there)) ? [there] : [];
    if (!there) return !was || !same(was, now) ? [now] : [];
    if (!was) return [now];
    const layout = same(was.layout, now.layout) ? there.layout : now.layout;
    const isMine = !same({ ...was, layout }, { ...now, layout });
    return [{ ...(isMine ? now : there), layout }];
  });
  return settle(merged);
}
