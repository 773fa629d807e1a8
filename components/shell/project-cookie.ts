/** Cookie that remembers the current project's id. It grants nothing: the server checks the membership at every call. */
export const PROJECT_COOKIE = "treadle.project";

/** Makes a project the current one and opens `path` in it with nothing left over from the one before. */
export function openProject(projectId: string, path = "/"): void {
  // biome-ignore lint/suspicious/noDocumentCookie: the Cookie Store API is missing outside secure contexts
  document.cookie = `${PROJECT_COOKIE}=${projectId}; path=/; max-age=31536000; samesite=lax`;
  location.assign(path);
}
