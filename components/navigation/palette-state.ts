"use client";

import { useStore } from "zustand";
import { createStore } from "zustand/vanilla";

// Apart from the palette, which is loaded with its first use: what is typed before it has come is in it then.
const palette = createStore<{ isOpen: boolean; text: string }>(() => ({ isOpen: false, text: "" }));

export const openPalette = () => palette.setState({ isOpen: true, text: "" });
export const closePalette = () => palette.setState({ isOpen: false });
export const togglePalette = () => (palette.getState().isOpen ? closePalette() : openPalette());
export const setPaletteText = (text: string) => palette.setState({ text });
export const usePalette = () => useStore(palette);
