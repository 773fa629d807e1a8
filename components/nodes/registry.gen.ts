// Written by server/generate-registries.ts. Run `npm run gen` after adding a node type.
import type { NodeUiRegistry } from "#components/nodes/types.ts";

export const nodeUis = {

} satisfies NodeUiRegistry;
