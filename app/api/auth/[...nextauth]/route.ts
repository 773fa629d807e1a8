import type { NextRequest } from "next/server";
import NextAuth from "next-auth";
import { server } from "#app/server.ts";

type Context = { params: Promise<{ nextauth: string[] }> };

async function handle(request: NextRequest, context: Context): Promise<Response> {
  // Here browsers would write into our log, anybody's and whatever they like.
  if ((await context.params).nextauth[0] === "_log") return new Response(null, { status: 404 });
  const { authOptions } = await server();
  return NextAuth(request as never, context as never, authOptions(request.headers));
}

export { handle as GET, handle as POST };
