import type { Metadata } from "next";
import { TemplatesPage } from "#components/workflows/templates-page.tsx";

export const metadata: Metadata = { title: "Templates" };

export default TemplatesPage;
