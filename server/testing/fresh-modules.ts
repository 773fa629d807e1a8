import { afterAll, vi } from "vitest";

// Run for each test file. Our modules hold what they know of a database, of settings and of each other: the next file in this process
// loads them anew, and only the libraries are there already.
afterAll(() => {
  vi.resetModules();
});
