import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { parse } from "yaml";
import { START_ARGUMENTS } from "#e2e/server.ts";

const textOf = (file: string) => readFileSync(join(import.meta.dirname, "..", file), "utf8");
const dockerfile = textOf("Dockerfile");
interface Service {
  image?: string;
  build?: string;
  read_only?: boolean;
  volumes?: string[];
}
const compose: { services: Record<string, Service>; volumes: Record<string, null> } = parse(textOf("compose.yaml"), { merge: true });
const services = Object.entries(compose.services);

test("the image starts what `npm start` starts", () => {
  expect(START_ARGUMENTS.at(-1)).toBe("server/main.ts");
  const [, command = ""] = /^CMD (\[.*\])$/m.exec(dockerfile) ?? [];
  expect(JSON.parse(command)).toEqual(["node", ...START_ARGUMENTS]);
});

test("images are named with a whole version", () => {
  const named = [...dockerfile.matchAll(/^FROM (\S+)/gm)].map(([, image = ""]) => image);
  const images = [...named, ...services.flatMap(([, { image }]) => image ?? [])];
  expect(images.length).toBeGreaterThan(4);
  for (const image of images) expect(image).toMatch(/:v?\d+\.\d+(\.\d+)?(-slim)?$/);
});

test("the image runs the Node.js that is tested with", () => {
  const { devDependencies } = JSON.parse(textOf("package.json"));
  expect(dockerfile).toContain(`FROM node:${devDependencies.node}-slim`);
});

test("the image has a health check, an account without rights, and no anonymous volume", () => {
  expect(dockerfile).toMatch(/^HEALTHCHECK [\s\S]*\/api\/health\/ready/m);
  expect(dockerfile).toMatch(/^USER node$/m);
  expect(dockerfile).not.toMatch(/^VOLUME/m);
});

test("the image holds no tests", () => {
  const ignored = textOf(".dockerignore").split("\n");
  expect(ignored).toEqual(expect.arrayContaining(["e2e", "server/testing", "**/*.test.ts", "**/*.test.tsx"]));
  expect(dockerfile).not.toMatch(/^COPY --from=build.* \/app \/app/m);
});

test("services keep data in named volumes, on a read-only root where the app runs", () => {
  for (const [name, { build, read_only, volumes = [] }] of services) {
    for (const volume of volumes) expect(Object.keys(compose.volumes), name).toContain(volume.split(":")[0]);
    if (build) expect([name, read_only, volumes]).toEqual([name, true, [`${name}:/data`]]);
  }
});
