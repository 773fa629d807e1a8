import type { Metadata } from "next";
import { ApiReference } from "#components/docs/api-reference.tsx";

export const metadata: Metadata = { title: "API reference" };

export default ApiReference;
