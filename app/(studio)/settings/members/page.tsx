import type { Metadata } from "next";
import { MembersSettings } from "#components/settings/members-settings.tsx";

export const metadata: Metadata = { title: "Members" };

export default MembersSettings;
