/** How the whole workflow is brought into view: with room around it, and never larger than life. */
export const FIT = { padding: 0.15, maxZoom: 1, minZoom: 0.1 } as const;
