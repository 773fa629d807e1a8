# syntax=docker/dockerfile:1
FROM node:24.21.0-slim AS build
WORKDIR /app
COPY package.json package-lock.json .npmrc ./
RUN npm ci
COPY . .
# Of pdfjs-dist only the character maps and fonts are read: its program comes with unpdf.
RUN npm run build && npm prune --omit=dev && rm -rf .next/cache \
  && find node_modules/pdfjs-dist -mindepth 1 -maxdepth 1 -type d ! -name cmaps ! -name standard_fonts -exec rm -r {} +

FROM node:24.21.0-slim
ENV NODE_ENV=production DATA_DIR=/data
WORKDIR /app
# A named volume that is mounted here gets this owner; without one, data goes with the container.
RUN mkdir /data && chown node:node /data
# Owned by root: the service writes to /data and /tmp only.
COPY --from=build /app/package.json /app/package-lock.json /app/next.config.mjs /app/tsconfig.json /app/LICENSE ./
COPY --from=build /app/node_modules node_modules
COPY --from=build /app/prisma prisma
COPY --from=build /app/server server
COPY --from=build /app/components components
COPY --from=build /app/app app
COPY --from=build /app/.next .next
USER node
EXPOSE 3000
HEALTHCHECK --interval=30s --timeout=5s --start-period=120s --start-interval=2s \
  CMD ["node", "-e", "fetch(`http://localhost:${process.env.PORT || 3000}/api/health/ready`).then(({ ok }) => process.exit(ok ? 0 : 1), () => process.exit(1))"]
# As `npm start` does, without npm: SIGTERM reaches Node directly and drains the runs under way.
CMD ["node", "--max-semi-space-size=8", "--heap-growing-percent=30", "server/main.ts"]
