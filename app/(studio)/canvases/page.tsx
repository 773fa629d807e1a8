import type { Metadata } from "next";
import { CanvasesPage } from "#components/canvases/list/canvases-page.tsx";

export const metadata: Metadata = { title: "Canvases" };

export default CanvasesPage;
