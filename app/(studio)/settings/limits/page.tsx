import type { Metadata } from "next";
import { LimitSettings } from "#components/settings/limit-settings.tsx";

export const metadata: Metadata = { title: "Limits" };

export default LimitSettings;
