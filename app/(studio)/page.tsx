import type { Metadata } from "next";
import { HomePage } from "#components/home/home-page.tsx";

export const metadata: Metadata = { title: "Home" };

export default HomePage;
