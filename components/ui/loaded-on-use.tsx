import dynamic from "next/dynamic";
import type { ComponentType } from "react";

const Nothing = () => null;

/**
 * A part of a page that is loaded when it is first drawn. What is around it goes on meanwhile; next/dynamic alone, with nothing to
 * show instead, holds back all that is to be drawn until then.
 * @param Loading drawn in its place; left out, nothing
 */
export const loadedOnUse = <Props extends object>(load: () => Promise<ComponentType<Props>>, Loading: ComponentType = Nothing) =>
  dynamic(load, { loading: () => <Loading /> });
