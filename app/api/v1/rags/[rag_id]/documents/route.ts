import { addRagDocument, restOfRagDocuments } from "#server/api/rag-documents.ts";

export {
  addRagDocument as POST,
  restOfRagDocuments as DELETE,
  restOfRagDocuments as GET,
  restOfRagDocuments as HEAD,
  restOfRagDocuments as OPTIONS,
  restOfRagDocuments as PATCH,
  restOfRagDocuments as PUT,
};
