import { defineConfig } from "prisma/config";

// No datasource URL: migrations run in process at boot (server/platform/db/migrate.ts), the CLI only generates the client.
export default defineConfig({ schema: "schema.prisma" });
