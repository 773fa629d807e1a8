import { Boxes, Database, FileText, Globe, type LucideIcon } from "lucide-react";
import type { RagType } from "#server/features/knowledge/schema.ts";

/** How the kinds of sources are called and what they are for. */
export const sourceKinds: Record<RagType, { label: string; description: string; icon: LucideIcon }> = {
  documents: { label: "Documents", description: "Files, texts and web pages, kept and searched here", icon: FileText },
  pgvector: { label: "pgvector", description: "A table with vectors in a PostgreSQL of yours", icon: Database },
  qdrant: { label: "Qdrant", description: "A collection in a Qdrant of yours", icon: Boxes },
  http: { label: "Search service", description: "A search of yours that answers JSON over HTTP", icon: Globe },
};
