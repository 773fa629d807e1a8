import { uploadRagDocument } from "#server/api/rag-documents.ts";
import { handleUnknownBridgePath as refused } from "#server/api/rest/bridge.ts";

// The web app's own uploads: the browser session only, and they do not spend the API's budget.
export { refused as DELETE, refused as GET, refused as OPTIONS, refused as PATCH, refused as PUT, uploadRagDocument as POST };
