import type { NextRequest } from "next/server";
import NextAuth from "next-auth";
import { authOptions } from "#server/auth/auth-options.ts";

const handle = (request: NextRequest, context: { params: Promise<{ nextauth: string[] }> }): Promise<Response> =>
  NextAuth(request as never, context as never, authOptions(request.headers));

export { handle as GET, handle as POST };
