import "./globals.css";
import type { Metadata, Viewport } from "next";
import { headers } from "next/headers";
import type { ReactNode } from "react";
import { server } from "#app/server.ts";
import { bootScript } from "#components/shell/boot-script.ts";
import { Toaster } from "#components/ui/toaster.tsx";
import { TooltipProvider } from "#components/ui/tooltip.tsx";

export const metadata: Metadata = {
  title: { default: "Treadle", template: "%s · Treadle" },
  description: "Automations made of LLM agents: drawn on a canvas, run durably, driven over REST.",
};

export const viewport: Viewport = {
  themeColor: [
    { media: "(prefers-color-scheme: light)", color: "#f4f0e7" },
    { media: "(prefers-color-scheme: dark)", color: "#161411" },
  ],
};

// Reading a header makes every page one that is drawn when it is asked for: a page from the build could not know the nonce.
export default async function RootLayout({ children }: { children: ReactNode }) {
  const sent = await headers();
  const nonce = (await server()).nonceOf(sent);
  return (
    // The boot script writes attributes that React did not render.
    <html lang="en" suppressHydrationWarning>
      <head>
        {/* biome-ignore lint/security/noDangerouslySetInnerHtml: our own constant; it must run before the first paint */}
        <script nonce={nonce} suppressHydrationWarning dangerouslySetInnerHTML={{ __html: bootScript }} />
      </head>
      <body>
        <TooltipProvider>{children}</TooltipProvider>
        <Toaster />
      </body>
    </html>
  );
}
