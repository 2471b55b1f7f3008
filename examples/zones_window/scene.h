#ifndef SONDE_EXAMPLES_ZONES_WINDOW_SCENE_H
#define SONDE_EXAMPLES_ZONES_WINDOW_SCENE_H

/* Two galaxies that collide, as a picture of red, green, blue and alpha, a byte each. */
struct scene;

/* The same bodies in each run.  NULL: no memory, or no second thread. */
struct scene *scene_create(int width, int height);
/* One frame further; the picture, of rows from the top one, is the scene's until the next. */
const unsigned char *scene_step(struct scene *scene);
void scene_destroy(struct scene *scene);

#endif
