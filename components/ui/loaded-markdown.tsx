"use client";

import { loadedOnUse } from "#components/ui/loaded-on-use.tsx";
import { Skeleton } from "#components/ui/skeleton.tsx";

/** Markdown whose renderer comes when the first of it is drawn. Until then it is seen that something is to come: nobody answers an empty review. */
export const Markdown = loadedOnUse(
  () => import("#components/ui/markdown.tsx").then((module) => module.Markdown),
  () => <Skeleton className="my-1 h-9 w-full" />,
);
