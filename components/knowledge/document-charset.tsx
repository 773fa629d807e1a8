"use client";

import { useMutation } from "@tanstack/react-query";
import { errorBodyOf, useApi } from "#components/trpc.tsx";
import { Field } from "#components/ui/field.tsx";
import { Select } from "#components/ui/select.tsx";
import { toast } from "#components/ui/toaster.tsx";
import { DocumentCharset, type RagDocument } from "#server/features/knowledge/schema.ts";

const SCRIPTS: Record<DocumentCharset, string> = {
  "utf-8": "Unicode",
  "utf-16le": "Unicode",
  "utf-16be": "Unicode",
  "windows-1252": "Western European",
  "windows-1250": "Central European",
  "windows-1251": "Cyrillic",
  "windows-1253": "Greek",
  "windows-1254": "Turkish",
  "windows-1255": "Hebrew",
  "windows-1256": "Arabic",
  "windows-1257": "Baltic",
  "windows-1258": "Vietnamese",
  "windows-874": "Thai",
  gb18030: "Chinese, simplified",
  gbk: "Chinese, simplified",
  big5: "Chinese, traditional",
  shift_jis: "Japanese",
  "euc-jp": "Japanese",
  "iso-2022-jp": "Japanese",
  "euc-kr": "Korean",
  "koi8-r": "Cyrillic",
  "koi8-u": "Cyrillic, Ukrainian",
  ibm866: "Cyrillic, DOS",
  macintosh: "Western European, Mac",
  "x-mac-cyrillic": "Cyrillic, Mac",
  "iso-8859-2": "Central European",
  "iso-8859-3": "South European",
  "iso-8859-4": "Baltic",
  "iso-8859-5": "Cyrillic",
  "iso-8859-6": "Arabic",
  "iso-8859-7": "Greek",
  "iso-8859-8": "Hebrew, visual order",
  "iso-8859-8-i": "Hebrew",
  "iso-8859-10": "Nordic",
  "iso-8859-13": "Baltic",
  "iso-8859-14": "Celtic",
  "iso-8859-15": "Western European",
  "iso-8859-16": "South-Eastern European",
};

const DETECT = "detect";

interface DocumentCharsetFieldProps {
  document: RagDocument;
  canEdit: boolean;
}

/** Shows the charset that a text document was decoded by. A change indexes the document again. */
export function DocumentCharsetField({ document: { id, rag_id, status, charset, chosen_charset }, canEdit }: DocumentCharsetFieldProps) {
  const { trpc, cache } = useApi();
  const reindex = useMutation(
    trpc.rags.reindexDocument.mutationOptions({
      onSuccess: () => cache.invalidateQueries(trpc.rags.pathFilter()),
      onError: (error) => toast.error(errorBodyOf(error).detail),
    }),
  );
  const isBusy = reindex.isPending || status === "indexing";
  if (charset === null && chosen_charset === null) return null;

  return (
    <Field
      label="Text encoding"
      className="max-w-72"
      hint={isBusy ? "The text is read again." : canEdit ? "If letters look wrong, choose another encoding." : undefined}
    >
      <Select
        value={chosen_charset === null ? DETECT : DocumentCharset.catch("utf-8").parse(chosen_charset)}
        onValueChange={(next) => reindex.mutate({ rag_id, document_id: id, charset: next === DETECT ? null : next })}
        options={[
          { value: DETECT, label: charset === null || chosen_charset !== null ? "Automatic" : `Automatic (${charset})` },
          ...DocumentCharset.options.map((value) => ({ value, label: `${SCRIPTS[value]} (${value})` })),
        ]}
        disabled={!canEdit || isBusy}
      />
    </Field>
  );
}
