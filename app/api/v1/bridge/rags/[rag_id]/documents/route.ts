import { handleUnknownBridgePath as refused } from "#server/http/rest/bridge.ts";
import { uploadRagDocument } from "#server/http/streams/rag-documents.ts";

// The web app's own uploads: the browser session only, and they do not spend the API's budget.
export { refused as DELETE, refused as GET, refused as OPTIONS, refused as PATCH, refused as PUT, uploadRagDocument as POST };
