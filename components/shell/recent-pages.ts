"use client";

// Which workflows, agents, runs and so on somebody has opened last, in this browser, for the command palette.

const MOST = 8;
const keyOf = (projectId: string) => `treadle.recent.${projectId}`;

export interface RecentPage {
  path: string;
  title: string;
}

const isRecentPage = (value: unknown): value is RecentPage =>
  typeof value === "object" && value !== null && "path" in value && "title" in value && String(value.path).startsWith("/");

/** The pages that were opened last in a project, the latest first. */
export function recentPages(projectId: string): RecentPage[] {
  try {
    const stored: unknown = JSON.parse(localStorage.getItem(keyOf(projectId)) ?? "[]");
    return Array.isArray(stored) ? stored.filter(isRecentPage).slice(0, MOST) : [];
  } catch {
    return [];
  }
}

/** Notes that a page was opened. */
export function rememberPage(projectId: string, page: RecentPage): void {
  try {
    const others = recentPages(projectId).filter(({ path }) => path !== page.path);
    localStorage.setItem(keyOf(projectId), JSON.stringify([page, ...others].slice(0, MOST)));
  } catch {
    // Without storage nothing is remembered.
  }
}
