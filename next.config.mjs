import createMdx from "@next/mdx";

// The chapters of the guide are MDX. Turbopack takes plugins by name only.
const withMdx = createMdx({ options: { remarkPlugins: ["remark-gfm"], providerImportSource: "#app/docs/mdx.tsx" } });

/** @type {import("next").NextConfig} */
export default withMdx({
  pageExtensions: ["ts", "tsx", "mdx"],
  poweredByHeader: false,
  compress: true,
  devIndicators: false,
  // Bundled, its OpenID client would count as code of this service, and Node would warn of `url.parse` (DEP0169) at a sign-in.
  serverExternalPackages: ["next-auth"],
  // The title comes with the head, for everybody: no page has to wait for what its title is made of.
  htmlLimitedBots: /.*/,
  experimental: {
    // A page is loaded when somebody comes to it: the first one takes 0.2 s longer, and 25 MB stay free until then.
    preloadEntriesOnStart: false,
    // An install is built once: for a next build it would keep 143 MB and take a quarter longer. Who builds often uses `npm run dev`.
    turbopackFileSystemCacheForBuild: false,
  },
  // No page has an image that is made smaller here, and the door for it would fetch whatever address a page names.
  images: { unoptimized: true },
  // Types are checked by `npm run check`; the build of a user's first start need not do it again.
  typescript: { ignoreBuildErrors: true },
});
