import "./globals.css";
import type { Metadata, Viewport } from "next";
import type { ReactNode } from "react";
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

export default function RootLayout({ children }: { children: ReactNode }) {
  return (
    // The boot script writes attributes that React did not render.
    <html lang="en" suppressHydrationWarning>
      <head>
        {/* biome-ignore lint/security/noDangerouslySetInnerHtml: our own constant; it must run before the first paint */}
        <script dangerouslySetInnerHTML={{ __html: bootScript }} />
      </head>
      <body>
        <TooltipProvider>{children}</TooltipProvider>
        <Toaster />
      </body>
    </html>
  );
}
