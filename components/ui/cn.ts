import { type ClassValue, clsx } from "clsx";
import { createTailwindMerge } from "tailwind-merge";

const isAny = () => true;
const isNumber = (end: string) => /^\d+$/.test(end);
const isLength = (end: string) => /^\[([\d.]+[a-z]|calc|clamp|min|max)/.test(end);
const isPercent = (end: string) => end.endsWith("%");

/** Whatever stands behind a name. */
const ANY = [isAny];
/** Groups of classes that are the group's name, or begin with it. */
const named = <Name extends string>(...names: Name[]) =>
  Object.fromEntries(names.map((name) => [name, [{ [name]: ["", isAny] }]])) as Record<Name, [Record<string, ["", typeof isAny]>]>;

// Only the groups that are used here: the library's own table of all of Tailwind is four times as large as all else of it, and
// would come with every page. cn.test.ts says when a class is missing.
const merge = createTailwindMerge(() => ({
  cacheSize: 500,
  theme: {},
  classGroups: {
    ...named(
      "aspect",
      "columns",
      "basis",
      "grow",
      "shrink",
      "order",
      "grid-cols",
      "col",
      "col-start",
      "row",
      "row-start",
      "gap",
      "gap-x",
      "gap-y",
    ),
    ...named("overflow", "overflow-x", "overflow-y", "inset", "inset-x", "inset-y", "top", "right", "bottom", "left", "z"),
    ...named("p", "px", "py", "pt", "pr", "pb", "pl", "m", "mx", "my", "mt", "mr", "mb", "ml", "scroll-mt", "scroll-my"),
    ...named("size", "w", "min-w", "max-w", "h", "min-h", "max-h", "justify", "items", "self", "place-items"),
    ...named("tracking", "leading", "line-clamp", "list", "align", "whitespace", "underline-offset", "content", "select"),
    ...named("rounded", "rounded-t", "rounded-b", "rounded-br", "border-spacing", "divide-y", "outline-offset", "shadow", "opacity"),
    ...named(
      "transition",
      "animate",
      "rotate",
      "translate-x",
      "translate-y",
      "cursor",
      "pointer-events",
      "resize",
      "touch",
      "fill",
      "stroke",
    ),
    display: ["block", "inline-block", "inline", "flex", "inline-flex", "grid", "contents", "table", "hidden"],
    position: ["static", "fixed", "absolute", "relative", "sticky"],
    visibility: ["visible", "invisible", "collapse"],
    "flex-direction": [{ flex: ["row", "row-reverse", "col", "col-reverse"] }],
    "flex-wrap": [{ flex: ["wrap", "nowrap"] }],
    flex: [{ flex: ANY }],
    sr: ["sr-only", "not-sr-only"],
    "font-size": [{ text: ["12", "13", "14", "16", "18", "24", isLength] }],
    "text-alignment": [{ text: ["left", "center", "right"] }],
    "text-color": [{ text: ANY }],
    "font-weight": [{ font: ["normal", "semibold"] }],
    "font-family": [{ font: ANY }],
    "text-decoration": ["underline", "line-through", "no-underline"],
    "text-decoration-style": [{ decoration: ["wavy"] }],
    "text-decoration-color": [{ decoration: ANY }],
    break: [{ break: ["words", "all"] }],
    "bg-image": [{ "bg-linear": ANY }],
    "bg-color": [{ bg: ANY }],
    "gradient-from-pos": [{ from: [isPercent] }],
    "gradient-from": [{ from: ANY }],
    "border-style": [{ border: ["solid", "dashed"] }],
    "border-collapse": [{ border: ["collapse", "separate"] }],
    "border-w": [{ border: ["", isNumber] }],
    "border-w-y": [{ "border-y": [""] }],
    "border-w-t": [{ "border-t": ["", isNumber] }],
    "border-w-r": [{ "border-r": [""] }],
    "border-w-b": [{ "border-b": [""] }],
    "border-w-l": [{ "border-l": ["", isNumber] }],
    "border-color-t": [{ "border-t": ANY }],
    "border-color": [{ border: ANY }],
    "divide-color": [{ divide: ANY }],
    "outline-style": [{ outline: ["none"] }],
    "outline-w": [{ outline: ["", isNumber, isLength] }],
    "outline-color": [{ outline: ANY }],
  },
  conflictingClassGroups: {
    overflow: ["overflow-x", "overflow-y"],
    inset: ["inset-x", "inset-y", "top", "right", "bottom", "left"],
    "inset-x": ["right", "left"],
    "inset-y": ["top", "bottom"],
    flex: ["basis", "grow", "shrink"],
    gap: ["gap-x", "gap-y"],
    p: ["px", "py", "pt", "pr", "pb", "pl"],
    px: ["pr", "pl"],
    py: ["pt", "pb"],
    m: ["mx", "my", "mt", "mr", "mb", "ml"],
    mx: ["mr", "ml"],
    my: ["mt", "mb"],
    size: ["w", "h"],
    "font-size": ["leading"],
    "line-clamp": ["display", "overflow"],
    rounded: ["rounded-t", "rounded-b", "rounded-br"],
    "rounded-b": ["rounded-br"],
    "border-w": ["border-w-y", "border-w-t", "border-w-r", "border-w-b", "border-w-l"],
    "border-w-y": ["border-w-t", "border-w-b"],
    "border-color": ["border-color-t"],
    "scroll-my": ["scroll-mt"],
  },
  conflictingClassGroupModifiers: { "font-size": ["leading"] },
  orderSensitiveModifiers: [
    "*",
    "**",
    "after",
    "backdrop",
    "before",
    "file",
    "first-letter",
    "first-line",
    "marker",
    "placeholder",
    "selection",
  ],
}));

/** Joins class names; of two that set the same property the later one wins. */
export const cn = (...classes: ClassValue[]): string => merge(clsx(classes));
